#!/bin/sh
# Renders the chart as its tests check it: deploy/render.sh [HELM]. Run it after each change of the chart.
set -eu
cd "$(dirname "$0")"
values=image=registry.example.com/footplate:1,token=a-token,reserve=false,postgresql.password=a-password
"${1:-helm}" template footplate helm/footplate --namespace training --set "$values" > rendered.tmp
{
    echo "# helm/footplate as Helm renders it, by render.sh, of a chart with the SHA-256"
    echo "# $(find helm -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -d' ' -f1)"
    cat rendered.tmp
} > rendered.yaml
rm rendered.tmp
