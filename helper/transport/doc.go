// Package transport makes the one http.RoundTripper through which everything
// that goes to a backend travels. It is a seam: a faster or a failing round
// tripper can stand in its place without a stage noticing.
//
// A transport never uses a proxy from the environment, never asks for or undoes
// compression, and bounds the header of an answer. It follows no redirect: what
// the backend answers is what the client gets.
package transport
