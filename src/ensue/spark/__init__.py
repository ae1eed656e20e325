"""The pipeline on Spark: streams come in as DataFrames, and answers go out as DataFrames.

Only this package imports `pyspark`; `pip install 'ensue[spark]'` brings what it needs, Java included.
"""
