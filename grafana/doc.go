// Package grafana reads the dashboards that lie beside it, so that a test and the command in check can hold every query
// to the series that the gateway exports. The rest of the folder is for Grafana and Prometheus: dashboards, provisioning
// and alert rules.
//
// It finds the queries of panels and variables. It doesn't parse PromQL and isn't part of the gateway's binary. Its
// functions are pure and may be called at the same time.
package grafana
