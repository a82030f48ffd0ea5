/// What a C function returned, which must not be null.
///
/// `#require` must not be given the call itself: its expansion frees a string or an array that becomes a pointer before
/// the function reads it (Swift 6.3, for an argument of a parameter pack).
///
/// - Throws: ``NullResult``, with `subject` where several are tried.
@discardableResult
package func nonNull<Result>(_ result: Result?, _ subject: @autoclosure () -> String = "") throws -> Result {
  guard let result else { throw NullResult(subject: subject()) }
  return result
}

/// A C function has returned null.
package struct NullResult: Error, CustomStringConvertible {
  var subject: String

  package var description: String { subject.isEmpty ? "null" : "null for \(subject)" }
}
