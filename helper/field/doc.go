// Package field knows when two header names are the same to some server: CGI, WSGI and PHP turn letters of either case, and
// bytes that are no letter or digit, into one variable, so that X_User_Id is X-User-Id to them.
//
// It guarantees one plain spelling for all of these. It doesn't know which headers matter; whoever protects or removes one
// does. Its functions are pure and safe for concurrent use; Plain doesn't allocate for a name that is spelt plainly.
package field
