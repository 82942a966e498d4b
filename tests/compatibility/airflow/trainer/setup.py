"""The package that the example of a Python package trains with."""

from setuptools import find_packages, setup

setup(name="custom_trainer_script", version="0.1", packages=find_packages())
