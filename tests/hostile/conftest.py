"""``--hypothesis-profile hostile`` tries for an hour, and makes nothing small: by hand only."""

from hypothesis import Phase, settings

settings.register_profile(
    "hostile", max_examples=4_000, phases=[Phase.generate], report_multiple_bugs=False
)
