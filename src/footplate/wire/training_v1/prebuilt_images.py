"""Google's prebuilt PyTorch images, in which a job's packages run.

``masterConfig.imageUri`` names one, and ``packageUris`` and ``pythonModule`` say what runs in it:
so does ``gcloud ai-platform jobs submit training`` with ``--master-image-uri`` and
``--package-path``.
"""

from __future__ import annotations

from footplate.domain.runtimes import ML_IMAGES, is_prebuilt
from footplate.wire.training_v1.models import ReplicaConfig, TrainingInput


def master_image(training: TrainingInput) -> str | None:
    """Returns the container image of the job, which roles may override; None: it has none."""
    return (training.master_config and training.master_config.image_uri) or None


def has_prebuilt_image(training: TrainingInput) -> bool:
    """Returns whether the job's packages run in a prebuilt image."""
    image, config = master_image(training) or "", training.master_config
    if config is None or config.container_command or config.container_args:
        return False
    if image.startswith(ML_IMAGES):
        return True
    return is_prebuilt(image) and bool(training.python_module or training.package_uris)


def prebuilt_runtime(training: TrainingInput, config: ReplicaConfig, field: str) -> str:
    """Returns the runtime for the packages of one role.

    ``field`` is the path of the role's config within the training input.
    """
    if config.image_uri:
        return f"image@{field}.imageUri:{config.image_uri}"
    return f"image@masterConfig.imageUri:{master_image(training)}"
