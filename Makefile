# make check is what .ci/run calls. FUZZTIME is for each target: make fuzz FUZZTIME=1m
FUZZTIME ?= 20s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LINT     := bin/golangci-lint-v2.15.0

.PHONY: check build test vet lint fuzz bench bench-peers bench-scale bench-soak docs image demo clean
check: build vet lint test
	$(MAKE) fuzz FUZZTIME=10000x

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o gatehouse .

# The smoke test of the built binary and the laws of the repository are among the tests.
test:
	go test -race ./...

vet:
	go vet ./...

lint: $(LINT)
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt -w is needed"; exit 1; }
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CURDIR)/bin/install go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(subst bin/golangci-lint-,,$(LINT))
	mv bin/install/golangci-lint $(LINT)

fuzz:
	FUZZTIME=$(FUZZTIME) bash .ci/fuzz.sh

bench:
	go run ./bench/chain
	go run ./bench/limits
	go run ./bench/upload

# Against HAProxy and nginx; it says which packages it misses.
bench-peers:
	go run ./bench/peers

# What a request costs by stage, and as its surroundings grow.
bench-scale:
	go test -run '^$$' -bench Stages ./middleware
	go run ./bench/scale

# Whether anything grows: over ten million requests, and under five minutes of faults. Some twenty minutes.
bench-soak:
	go run ./bench/soak -requests 10000000
	go run ./bench/soak -faults 5m

docs:
	go generate ./helper/config

image:
	docker build --build-arg VERSION=$(VERSION) -t gatehouse .

demo:
	go run . demo

clean:
	rm -rf bin dist gatehouse
