// Package route decides which rule of the configuration a request belongs to.
//
// A [Table] is compiled once from a list of [Rule] and answers [Table.Match] for each request. [CheckPath] is the policy on
// what a request's path may look like, [CanonicalHost] brings the Host into the form that rules are compared with, and
// [Strip] and [Rewrite] make the path for the upstream.
//
// # Which rule wins
//
// Of the rules whose conditions all hold, the most specific one wins:
//
//  1. An exact path ("= /order") beats a prefix, and a longer prefix beats a shorter one. The prefix "/order" matches
//     /order and /order/…, but not /orders and not /order;v=1, which are other segments. The prefix "/order/" matches
//     /order/ and /order/…, but not /order. The prefix "/" matches every path.
//  2. An exact host beats a wildcard, a longer wildcard beats a shorter one, and any wildcard beats a rule without hosts.
//     "*.example.com" matches a.example.com and a.b.example.com, but not example.com.
//  3. More conditions beat fewer: each header is one, a list of methods is one.
//  4. The earlier rule beats the later one.
//
// A rule that doesn't match is passed over for the next, also for one with a shorter prefix: with "/order" for GET only
// and "/" for everything, POST /order belongs to "/". Only if nothing matches but another method would have, the answer
// is [MethodNotAllowed]. Methods are case-sensitive (RFC 9110 section 9.1) and GET doesn't include HEAD. CONNECT and
// TRACE belong to no rule.
//
// # Escapes
//
// /%6frder and /order are one path to an upstream (RFC 3986 section 6.2.2.2), so they are one path to the table: segments
// are compared decoded, once. Otherwise an open "/" would let /%61dmin past the rule for "/admin". What is forwarded
// keeps the spelling that the client chose.
//
// # Unusual paths
//
// Nothing of a path is resolved or merged, because what is matched has to be what is forwarded. So /public/../admin
// matches "/public", whereas an upstream may take it for /admin. The caller closes that hole in this order:
//
//	problem := route.CheckPath(raw, false)            // before anything else
//	if problem != route.Clean && !problem.Unusual()   // never forwarded: 400
//	result := table.Match(host, raw, method, header)
//	if problem != route.Clean && !allowed             // 400; allowed: the matched rule has AllowUnusualPath
//
// An unusual path that matches no rule is a 400 as well. If "/public" itself allows unusual paths, /public/../admin
// is forwarded as it came, by that rule and with that rule's authentication: its operator's explicit choice.
//
// # Guarantees
//
// [New] refuses rules that can't be told apart and reports every problem at once. The cost of a match grows with the
// segments of the path and the labels of the host, not with the number of rules: only rules that share path and host, and
// so differ in methods or headers alone, are compared one after the other. A match that succeeds allocates
// nothing, unless the path has escapes.
//
// # What it doesn't do
//
// Overlong UTF-8 (%c0%ae for a dot) isn't recognised as what it imitates, and case counts: /ORDER is not /order.
//
// # Concurrency
//
// A Table never changes after New and everything here is safe for concurrent use.
package route
