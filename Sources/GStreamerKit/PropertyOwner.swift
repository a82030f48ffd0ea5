/// An object with a table of properties: an element, or a child of one. See ``Property`` for the table itself.
///
/// C's `class_init`, `set_property` and `get_property` call ``PropertyList/install(on:)``, ``setProperty(_:_:)`` and
/// ``getProperty(_:_:)``.
public protocol PropertyOwner: AnyObject, Sendable {
  /// What the user asks for.
  associatedtype Settings: PropertySettings
  /// The table.
  static var properties: PropertyList<Self> { get }
  /// The values.
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
  /// Reports to the application that the property was not changed, now or when the element starts. Called without
  /// locks.
  func refuse(_ property: PropertyName, id: UInt32, _ reason: String)
}

extension PropertyOwner {
  public static func check(_ settings: Settings) throws(InvalidPropertyValue) {}

  public static var keepsRefusalsUntilStart: Bool { false }

  /// GObject's `set_property`: takes the value, or refuses it and reports the reason.
  public func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
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
  public func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    Self.properties[id]?.read(self, value)
  }

  /// The error of a value that was refused.
  public static func refusal(_ property: String, _ reason: String) -> ElementError {
    .resource(GST_RESOURCE_ERROR_SETTINGS, "The property \(property) was not changed: \(reason)")
  }
}

/// A table of properties; ids are places in it, from 1 on.
public struct PropertyList<Owner: PropertyOwner>: Sendable, ExpressibleByArrayLiteral {
  /// In the order of the ids.
  public let properties: [Property<Owner>]

  public init(arrayLiteral properties: Property<Owner>...) {
    self.properties = properties
  }

  /// A table of entries that another one has as well, and further ones behind them.
  public init(_ common: [Property<Owner>], _ properties: Property<Owner>...) {
    self.properties = common + properties
  }

  /// The property with an id; nil if there is none.
  public subscript(id: UInt32) -> Property<Owner>? {
    let index = Int(id) - 1
    return properties.indices.contains(index) ? properties[index] : nil
  }

  /// Installs every property on the class.
  public func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    for (index, property) in properties.enumerated() {
      g_object_class_install_property(objectClass, guint(index + 1), property.makeParamSpec())
    }
  }
}

extension PropertyOwner where Self: GStreamerElement {
  /// Warns on the bus. Without one, as when gst-launch sets properties before there is a pipeline, the reason is kept
  /// for ``postRefusals()``.
  public func refuse(_ property: PropertyName, id: UInt32, _ reason: String) {
    let error = Self.refusal("\(property)", reason)
    guard hasBus, isRunning || !Self.keepsRefusalsUntilStart else {
      log(GST_LEVEL_WARNING, error.text)
      return settings.keepRefusal(error, of: id)
    }
    warn(error)
  }

  /// Warns of what was refused before there was a bus. To be called when the element starts.
  public func postRefusals() {
    for error in settings.takeRefusals() { error.post(as: GST_MESSAGE_WARNING, from: gstElement) }
  }
}
