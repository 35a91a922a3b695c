// Package config is the shape of config.yaml: its types, defaults, strict decoding and validation.
//
// Guarantees: a file is either wholly right or refused, with every problem at once and each problem's line, column and key;
// no key is ignored; nothing is repaired; the short forms (url, an upstream's route, inherited values) are resolved, so that a
// *Config from Load or Parse is the effective one. Values from the environment and secrets appear in no problem.
//
// Non-guarantees: nothing outside the text and the given environment is looked at. Whether a named file exists, a port is
// free or a host answers is found out by whoever uses it.
//
// Concurrency: the functions are pure and may be called from anywhere; a *Config is to be read only, also its maps and slices.
package config
