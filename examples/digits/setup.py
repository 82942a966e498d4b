from setuptools import find_packages, setup

setup(
    name="digits-trainer",
    version="0.1.0",
    packages=find_packages(),
    install_requires=["cloudml-hypertune"],
)
