"""What ``footplate ai`` does alike with jobs of a location, whatever their kind."""
