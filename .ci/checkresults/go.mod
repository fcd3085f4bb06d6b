module github.com/tickgauge/tickgauge/ci/checkresults

go 1.26.0
