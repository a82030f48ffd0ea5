/// Why a program has no screen, or no more.
public struct CarWindowError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Kinds that callers may have to tell apart.
  public enum Kind: Equatable, Sendable {
    /// Something has to be installed.
    case missing
    /// A setting can't be used.
    case setting
    /// Anything else that goes wrong.
    case failed
  }

  public let kind: Kind
  /// What happened, and what to do.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
