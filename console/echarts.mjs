// The parts of ECharts that the console's pages use; build.py makes one script of them.

import { LineChart, ParallelChart, ScatterChart } from "echarts/charts";
import { GridComponent, ParallelComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, ParallelChart, ScatterChart, GridComponent, ParallelComponent, TooltipComponent, CanvasRenderer]);

export { init };
