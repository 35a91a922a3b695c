// Package admin is the second listener's handler: what an operator, an orchestrator and Prometheus ask of the process. It
// must never be reachable from where clients are.
//
// Guarantees: /healthz says nothing but that the process lives, so that no failing upstream gets it restarted; /readyz is
// 503 exactly while Options.Ready says so; with a token set, no endpoint under /api/ and /debug/pprof/ answers without it,
// and tokens are compared in constant time; no other site's page can read or change anything under them through an operator's
// browser, not by a name of its own that leads here either; a client that doesn't send its body or take its answer is cut;
// every answer but pprof's, the metrics and the status page's is JSON. Errors are RFC 9457 problems.
//
// The status page at / is a few files in the binary that ask the endpoints here, and nobody else, for what they show. It
// needs no build. Its content security policy allows no script and no style but its own files'. What the API doesn't have
// (yet), it doesn't show.
//
// Non-guarantees: without a token, whoever reaches the listener may read and change everything that is here. It knows
// nothing of the gateway: the functions in Options do.
//
// Concurrency: the handler serves any number of requests at once, and so calls the functions of Options.
package admin
