# docker build --build-arg VERSION=$(git describe --tags --always) -t gatehouse .
# docker run -p 8080:8080 -v ./config.yaml:/etc/gatehouse/config.yaml gatehouse
#
# The tag of the first image moves with Go's patch releases: a new build has the newest standard library.
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm
ARG RUN_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM ${GO_IMAGE} AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/gatehouse .

# No shell and no package manager; ca-certificates and zoneinfo are in it. The root file system may be read-only.
FROM ${RUN_IMAGE}
COPY --from=build /out/gatehouse /gatehouse
USER 65532:65532
EXPOSE 8080 9090
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["/gatehouse", "health"]
ENTRYPOINT ["/gatehouse"]
