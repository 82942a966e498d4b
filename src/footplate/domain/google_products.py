"""Explains which of Google's products a host belongs to, and what to do without it.

Programs of jobs read this file, too, with whatever Python they have from 3.6 on.
"""

TYPE_CHECKING = False  # typing would cost time

_DOMAINS = (".googleapis.com", ".pkg.dev", ".gcr.io")
_REGISTRIES = (".pkg.dev", ".gcr.io")
_API = (
    "Google's Python clients reach Footplate instead if the setting api_access names the project "
    "and the job has a serviceAccount"
)
_FILES = "Copy the data into a bucket, and give the job its path"
_HERE = {
    "aiplatform": ("Vertex AI", _API),
    "cloudresourcemanager": ("Resource Manager", _API),
    "logging": (
        "Cloud Logging",
        ("Print what you want to log: the job's log keeps what programs print"),
    ),
    "ml": ("AI Platform Training", _API),
    "storage": (
        "Cloud Storage",
        "Its clients use STORAGE_EMULATOR_HOST, and programs open files at /gcs/BUCKET",
    ),
}
_ELSEWHERE = {
    "artifactregistry": (
        "Artifact Registry",
        "Put packages into a bucket and name them in packageUris, or use your own package index",
    ),
    "bigquery": ("BigQuery", "Export the table into a bucket (bq extract), and read the files"),
    "bigtable": ("Bigtable", _FILES),
    "cloudbuild": ("Cloud Build", "Build the image or package first, and name it in the job"),
    "cloudkms": ("Cloud KMS", "Give the job the key as a variable (env), or as a file in a bucket"),
    "cloudtrace": (
        "Cloud Trace",
        ("Print what you want to keep: the job's log keeps what programs print"),
    ),
    "compute": ("Compute Engine", "Ask for the machines that the job needs in its worker pools"),
    "container": (
        "Kubernetes Engine",
        ("Ask for the machines that the job needs in its worker pools"),
    ),
    "dataflow": ("Dataflow", "Prepare the data before you send the job, and put it into a bucket"),
    "dataproc": ("Dataproc", "Prepare the data before you send the job, and put it into a bucket"),
    "datastore": ("Datastore", _FILES),
    "drive": ("Google Drive", _FILES),
    "firestore": ("Firestore", _FILES),
    "iam": ("IAM", "The service account of a program exists only in Footplate, and has no keys"),
    "iamcredentials": (
        "IAM",
        ("The service account of a program exists only in Footplate, and can't sign anything"),
    ),
    "monitoring": ("Cloud Monitoring", "Print the figures, or write them as TensorBoard summaries"),
    "pubsub": ("Pub/Sub", "Print the messages, or write them into a bucket"),
    "run": ("Cloud Run", "Footplate only trains models; it runs no services"),
    "secretmanager": (
        "Secret Manager",
        "Give the job the secret as a variable (env), or as a file in a bucket",
    ),
    "sheets": ("Google Sheets", _FILES),
    "spanner": ("Spanner", _FILES),
    "sqladmin": ("Cloud SQL", _FILES),
}
"""By the first label of their hosts: a product's name, and the way out. Parts of those in ``_HERE``
are served.
"""
_PRODUCTS = {**_ELSEWHERE, **_HERE}


def explain_host(host: str, path: str = "") -> "str | None":
    """Returns two sentences on what ``host`` is and what to do; None: it isn't a host of Google's.

    ``path`` tells products apart at www.googleapis.com.
    """
    host = host.lower()
    if not ("." + host).endswith(_DOMAINS):
        return None
    label = host.split(".")[0]
    if host.endswith(_REGISTRIES):
        label = "artifactregistry"
    elif label == "www":
        label = path.strip("/").split("/")[0]
    label = _find(label)
    if not label:
        return f"Footplate has no {host}. {_FILES}"
    name, way = _PRODUCTS[label]
    if label in _HERE:
        return f"programs can't reach {name} ({host}) from here. {way}"
    return f"Footplate has no {name} ({host}). {way}"


def is_served(host: str) -> bool:
    """Returns whether this service has parts of the product to which a host belongs."""
    label, _, domain = host.lower().partition(".")
    return f".{domain}" == _DOMAINS[0] and _find(label) in _HERE


def explain_package(package: str) -> "str | None":
    """Explains a gRPC package such as ``google.pubsub.v1`` likewise; None: it is unknown."""
    labels = [label for label in package.lower().split(".") if label in _ELSEWHERE]
    return explain_host(f"{labels[0]}.googleapis.com") if labels else None


def _find(label: str) -> str:
    """Returns the product that a host's label belongs to; empty: none is known.

    Labels such as ``us-central1-pubsub`` and ``bigquerystorage`` belong to a product, too.
    """
    label = label.rpartition("-")[2]
    known = [each for each in _PRODUCTS if label.startswith(each)]
    return label if label in _PRODUCTS else max(known, key=len, default="")
