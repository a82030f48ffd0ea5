/// The properties of an element as a table. An entry names a key path into the element's settings, whose initial value
/// is the default, and everything that gst-inspect shows:
///
///     extension VideoSink: PropertyOwner {
///       static let properties: PropertyList<VideoSink> = [
///         .string("app-name", \.appName, "App name", "Name under which …", .mutableReady),
///         .unsigned("connect-timeout", \.connectTimeout, 1...3_600_000, "Connect time-out", "…", .mutableReady),
///         .enumeration("app-state", \.appState, "App state", "…", .mutablePlaying) { $0.appStateChanged() },
///         .text("uri", \.uri, "URI", "…", .mutableReady, parse: { $0.isEmpty ? nil : $0 }),
///         .enumeration("hmi-level", default: HMILevel.none, "HMI level", "…") { $0.hmiLevel },   // read-only
///         .structure("sdl-stats", "SDL statistics", "…") { $0.statistics() },
///       ]
///     }
///
/// Ids are places in the table, from 1 on. All texts are literals, so that GObject keeps pointers instead of copies.
public struct Property<Owner: PropertyOwner>: Sendable {
  /// The name that users write.
  public let name: PropertyName
  let nick: StaticString
  let blurb: StaticString
  /// When it may be written.
  public let access: PropertyAccess
  /// The specification, with a floating reference.
  let makeSpecification: @Sendable (PropertyTexts) -> UnsafeMutablePointer<GParamSpec>?
  let read: @Sendable (Owner, UnsafeMutablePointer<GValue>) -> Void
  /// Nil for properties that can't be written.
  let write: (@Sendable (inout Owner.Settings, UnsafePointer<GValue>) throws(InvalidPropertyValue) -> Void)?
  /// Called after a change, without locks.
  let changed: (@Sendable (Owner) -> Void)?

  /// The specification, with a floating reference.
  public func makeParamSpec() -> UnsafeMutablePointer<GParamSpec>? {
    makeSpecification(
      PropertyTexts(name: name.text.cString, nick: nick.cString, blurb: blurb.cString, flags: access.flags))
  }
}

/// The name of a property, a literal. Those that are notified are worth a constant:
///
///     extension PropertyName { static let hmiLevel: PropertyName = "hmi-level" }
///     notify(.hmiLevel)
public struct PropertyName: ExpressibleByStringLiteral, Sendable, CustomStringConvertible {
  let text: StaticString

  public init(stringLiteral text: StaticString) {
    self.text = text
  }

  /// The literal as a string.
  public var description: String { "\(text)" }
}

/// When a property may be written.
public enum PropertyAccess: Sendable {
  /// Never.
  case readOnly
  /// In NULL and READY.
  case mutableReady
  /// The same, and never read: for secrets.
  case writeOnlyReady
  /// Always; the blurb says when a new value takes effect.
  case mutablePlaying

  var flags: GParamFlags {
    let access =
      switch self {
      case .readOnly: UInt32(G_PARAM_READABLE.rawValue)
      case .mutableReady: UInt32(G_PARAM_READWRITE.rawValue) | UInt32(CGST_PARAM_MUTABLE_READY)
      case .writeOnlyReady: UInt32(G_PARAM_WRITABLE.rawValue) | UInt32(CGST_PARAM_MUTABLE_READY)
      case .mutablePlaying: UInt32(G_PARAM_READWRITE.rawValue) | UInt32(CGST_PARAM_MUTABLE_PLAYING)
      }
    return GParamFlags(rawValue: Int32(access | UInt32(CGST_PARAM_STATIC_STRINGS)))
  }
}

/// Why a property does not take a value: the end of the sentence "The property NAME was not changed: …".
public struct InvalidPropertyValue: Error, Equatable, CustomStringConvertible {
  /// What is wrong, with the value, and what to write instead.
  public var description: String

  /// For that reason.
  public init(_ description: String) {
    self.description = description
  }
}

/// What every specification begins and ends with.
struct PropertyTexts {
  let name: UnsafePointer<CChar>
  let nick: UnsafePointer<CChar>
  let blurb: UnsafePointer<CChar>
  let flags: GParamFlags
}
