import Synchronization

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
package struct Property<Owner: PropertyOwner>: Sendable {
  package let name: PropertyName
  let nick: StaticString
  let blurb: StaticString
  package let access: PropertyAccess
  /// The specification, with a floating reference.
  let makeSpecification: @Sendable (PropertyTexts) -> UnsafeMutablePointer<GParamSpec>?
  let read: @Sendable (Owner, UnsafeMutablePointer<GValue>) -> Void
  /// Nil for properties that can't be written.
  let write: (@Sendable (inout Owner.Settings, UnsafePointer<GValue>) throws(InvalidPropertyValue) -> Void)?
  /// Called after a change, without locks.
  let changed: (@Sendable (Owner) -> Void)?

  /// The specification, with a floating reference.
  package func makeParamSpec() -> UnsafeMutablePointer<GParamSpec>? {
    makeSpecification(
      PropertyTexts(name: name.text.cString, nick: nick.cString, blurb: blurb.cString, flags: access.flags))
  }
}

/// The name of a property, a literal. A constant is useful for properties that are notified:
///
///     extension PropertyName { static let hmiLevel: PropertyName = "hmi-level" }
///     notify(.hmiLevel)
package struct PropertyName: ExpressibleByStringLiteral, Sendable, CustomStringConvertible {
  let text: StaticString

  package init(stringLiteral text: StaticString) {
    self.text = text
  }

  package var description: String { "\(text)" }
}

package enum PropertyAccess: Sendable {
  case readOnly
  /// In NULL and READY.
  case mutableReady
  /// In NULL and READY, and never read: for secrets.
  case writeOnlyReady
  /// Always; the blurb says when a new value takes effect.
  case mutablePlaying

  var flags: GParamFlags {
    let access =
      switch self {
      case .readOnly: CGST_PARAM_READABLE
      case .mutableReady: CGST_PARAM_READABLE | CGST_PARAM_WRITABLE | CGST_PARAM_MUTABLE_READY
      case .writeOnlyReady: CGST_PARAM_WRITABLE | CGST_PARAM_MUTABLE_READY
      case .mutablePlaying: CGST_PARAM_READABLE | CGST_PARAM_WRITABLE | CGST_PARAM_MUTABLE_PLAYING
      }
    return cgst_param_flags(guint(access | CGST_PARAM_STATIC_STRINGS))
  }
}

/// Why a property does not take a value: the end of the sentence "The property NAME was not changed: …".
package struct InvalidPropertyValue: Error, Equatable, CustomStringConvertible {
  /// What is wrong, with the value, and what to write instead.
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The common part of all specifications.
struct PropertyTexts {
  let name: UnsafePointer<CChar>
  let nick: UnsafePointer<CChar>
  let blurb: UnsafePointer<CChar>
  let flags: GParamFlags
}

/// An object with a table of properties: an element, or a child of one. See ``Property`` for the table itself.
///
/// C's `class_init`, `set_property` and `get_property` call ``PropertyList/install(on:)``, ``setProperty(_:_:)`` and
/// ``getProperty(_:_:)``.
package protocol PropertyOwner: AnyObject, Sendable {
  associatedtype Settings: PropertySettings
  static var properties: PropertyList<Self> { get }
  var settings: ElementSettings<Settings> { get }
  /// Whether properties that are mutable in READY are fixed now.
  var isRunning: Bool { get }
  /// Checks combinations of values, and single values that their types can't rule out.
  ///
  /// - Throws: why the change that led to these settings is refused.
  static func check(_ settings: Settings) throws(InvalidPropertyValue)
  /// Whether values that are refused in NULL and READY are kept for the start even if there is a bus, because the
  /// element does not start with them.
  static var keepsRefusalsUntilStart: Bool { get }
  /// Tells the application that the property was not changed, now or when the element starts. Called without locks.
  func refuse(_ property: PropertyName, id: UInt32, _ reason: String)
}

extension PropertyOwner {
  package static func check(_ settings: Settings) throws(InvalidPropertyValue) {}

  package static var keepsRefusalsUntilStart: Bool { false }

  /// GObject's `set_property`: takes the value, or refuses it and reports the reason.
  package func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    guard let property = Self.properties[id], let write = property.write else { return }
    if [.mutableReady, .writeOnlyReady].contains(property.access), isRunning {
      return refuse(property.name, id: id, "it can only be set in NULL or READY")
    }
    do {
      try settings.change(id) { settings throws(InvalidPropertyValue) in
        try write(&settings, value)
        try Self.check(settings)
      }
    } catch {
      return refuse(property.name, id: id, error.description)
    }
    property.changed?(self)
  }

  /// GObject's `get_property`.
  package func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    Self.properties[id]?.read(self, value)
  }

  /// The error of a value that was refused.
  package static func refusal(_ property: String, _ reason: String) -> ElementError {
    .resource(GST_RESOURCE_ERROR_SETTINGS, "The property \(property) was not changed: \(reason)")
  }
}

/// A table of properties; ids are places in it, from 1 on.
package struct PropertyList<Owner: PropertyOwner>: Sendable, ExpressibleByArrayLiteral {
  /// In the order of the ids.
  package let properties: [Property<Owner>]

  package init(arrayLiteral properties: Property<Owner>...) {
    self.properties = properties
  }

  /// A table of another one's entries, followed by further ones.
  package init(_ common: [Property<Owner>], _ properties: Property<Owner>...) {
    self.properties = common + properties
  }

  /// The property with an id; nil if there is none.
  package subscript(id: UInt32) -> Property<Owner>? {
    let index = Int(id) - 1
    return properties.indices.contains(index) ? properties[index] : nil
  }

  package func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    for (index, property) in properties.enumerated() {
      g_object_class_install_property(objectClass, guint(index + 1), property.makeParamSpec())
    }
  }
}

extension PropertyOwner where Self: GStreamerElement {
  /// Warns on the bus. Without one, as when gst-launch sets properties before there is a pipeline, the reason is kept
  /// for ``postRefusals()``.
  package func refuse(_ property: PropertyName, id: UInt32, _ reason: String) {
    let error = Self.refusal("\(property)", reason)
    guard hasBus, isRunning || !Self.keepsRefusalsUntilStart else {
      log(GST_LEVEL_WARNING, error.text)
      return settings.keepRefusal(error, of: id)
    }
    warn(error)
  }

  /// Warns of values that were refused before there was a bus. To be called when the element starts.
  package func postRefusals() {
    for error in settings.takeRefusals() { error.post(as: GST_MESSAGE_WARNING, from: gstElement) }
  }
}

/// Settings with initial values, which are the defaults of the properties.
package protocol PropertySettings: Sendable {
  /// All defaults.
  init()
}

/// The settings of an element, under a lock; and the reasons of values that were refused before there was a bus to post
/// them on.
///
///     let settings = ElementSettings(VideoSinkSettings())
///     let timeout = settings.withLock { $0.connectTimeout }
///     let all = settings.current
package final class ElementSettings<Values: PropertySettings>: Sendable {
  private struct State {
    var values: Values
    /// One for each property, by its id.
    var refusals: [UInt32: ElementError] = [:]
  }

  private let state: Mutex<State>

  package init(_ values: Values = Values()) {
    state = Mutex(State(values: values))
  }

  /// Reads or changes the values. Call nothing that may lock in `body`.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Values) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try state.withLock { state throws(Failure) in try body(&state.values) }
  }

  package var current: Values { state.withLock { $0.values } }

  /// The reasons of values that were refused before there was a bus, in the order of the properties.
  package var refusals: [ElementError] {
    state.withLock { $0.refusals.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// The same; they are removed.
  package func takeRefusals() -> [ElementError] {
    state.withLock { state in
      defer { state.refusals = [:] }
      return state.refusals.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// Keeps the reason why a value of the property with this id was refused, in place of an earlier one.
  package func keepRefusal(_ error: ElementError, of id: UInt32) {
    state.withLock { $0.refusals[id] = error }
  }

  /// All or nothing: if `change` throws, the values are as before.
  func change(_ id: UInt32, _ change: (inout Values) throws(InvalidPropertyValue) -> Void) throws(InvalidPropertyValue)
  {
    try state.withLock { state throws(InvalidPropertyValue) in
      // This value replaces an earlier one that was refused.
      state.refusals[id] = nil
      var changed = state.values
      try change(&changed)
      state.values = changed
    }
  }
}
