module example.com/customfilter

go 1.26.0

require gatehouse v0.0.0

replace gatehouse => ../../..
