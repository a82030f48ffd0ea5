/// A GObject type that is written in Swift: an instance consists of the parent's instance and a Swift object that does
/// the work. The object is made in `instance_init`, and lives until `finalize`.
///
///     static let type = BaseSinkType.register("GstSdlAudioSink") { sinkClass, _ in
///       BaseSinkType.install(on: sinkClass, AudioSink.properties, AudioSink.details)
///     } initInstance: { sink, _ in
///       BaseSinkType.attach(AudioSink(element: BaseSinkType.parent(of: sink)), to: sink)
///     }
///
/// The functions that GObject calls are literals without captures, because C has no place for those; each finds the
/// object by ``object(of:)`` and calls one method.
package enum ObjectType<Parent, ParentClass, Object> {
  /// Registers a type with a name that is unique in the process.
  package static func register(
    _ name: StaticString, derivedFrom parent: GType, initClass: GClassInitFunc, initInstance: GInstanceInitFunc
  ) -> GType {
    g_type_register_static_simple(
      parent, name.cString, guint(MemoryLayout<ParentClass>.stride), initClass,
      guint(MemoryLayout<Parent>.stride + MemoryLayout<Object>.stride), initInstance, GTypeFlags(rawValue: 0))
  }

  /// Gives a new instance its object.
  package static func attach(_ object: Object, to instance: UnsafeMutableRawPointer?) {
    place(in: instance).initialize(to: object)
  }

  /// The object that does the work of an instance.
  @inline(__always)
  package static func object(of instance: UnsafeMutableRawPointer?) -> Object { place(in: instance).pointee }

  /// Takes the object from an instance that is finalized.
  package static func detach(from instance: UnsafeMutableRawPointer?) -> Object { place(in: instance).move() }

  /// The parent's part of an instance.
  package static func parent(of instance: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Parent> {
    instance.unsafelyUnwrapped.assumingMemoryBound(to: Parent.self)
  }

  /// Fills in the class of an element.
  ///
  /// - Parameter installFunctions: sets the virtual functions.
  static func install<Element: GStreamerElement & PropertyOwner>(
    on instanceClass: UnsafeMutableRawPointer?, _ properties: PropertyList<Element>, _ details: ElementDetails,
    _ installFunctions: (UnsafeMutablePointer<ParentClass>) -> Void
  ) {
    // GObject passes no NULL as a class.
    let instanceClass = instanceClass.unsafelyUnwrapped
    // First, because properties are installed only on a class that can set them.
    installFunctions(instanceClass.assumingMemoryBound(to: ParentClass.self))
    properties.install(on: instanceClass.assumingMemoryBound(to: GObjectClass.self))
    details.install(on: instanceClass.assumingMemoryBound(to: GstElementClass.self))
  }

  /// GObject passes no NULL as an instance.
  @inline(__always)
  private static func place(in instance: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Object> {
    (instance.unsafelyUnwrapped + MemoryLayout<Parent>.stride).assumingMemoryBound(to: Object.self)
  }
}

/// A class that is never unloaded, to chain up to its functions.
package func retainedClass<Class>(_ type: GType) -> UnsafeMutablePointer<Class> {
  g_type_class_ref(type).unsafelyUnwrapped.assumingMemoryBound(to: Class.self)
}

/// The details that `gst-inspect` shows before an element's properties.
package struct ElementDetails: Sendable {
  let name: StaticString
  let classification: StaticString
  let description: StaticString
  let templates: [PadTemplate]

  /// The template of an always pad of an element.
  package struct PadTemplate: Sendable {
    let name: StaticString
    let direction: GstPadDirection
    let caps: String

    package static func sink(_ caps: String) -> PadTemplate {
      PadTemplate(name: "sink", direction: GST_PAD_SINK, caps: caps)
    }

    /// The pad `src`.
    package static func source(_ caps: String) -> PadTemplate {
      PadTemplate(name: "src", direction: GST_PAD_SRC, caps: caps)
    }
  }

  /// - Parameters:
  ///   - name: for users.
  ///   - classification: such as `Sink/Video/Network`.
  ///   - description: a sentence.
  package init(
    _ name: StaticString, _ classification: StaticString, _ description: StaticString, _ templates: PadTemplate...
  ) {
    self.name = name
    self.classification = classification
    self.description = description
    self.templates = templates
  }

  package func install(on elementClass: UnsafeMutablePointer<GstElementClass>) {
    // The class keeps pointers to all texts.
    let author: StaticString = "The gst-smartdevicelink authors"
    gst_element_class_set_static_metadata(
      elementClass, name.cString, classification.cString, description.cString, author.cString)
    for template in templates {
      let kept = UnsafeMutablePointer<GstStaticPadTemplate>.allocate(capacity: 1)
      kept.initialize(to: GstStaticPadTemplate())
      kept.pointee.name_template = template.name.cString
      kept.pointee.direction = template.direction
      kept.pointee.presence = GST_PAD_ALWAYS
      kept.pointee.static_caps.string = g_intern_string(template.caps)
      gst_element_class_add_static_pad_template(elementClass, kept)
    }
  }
}

package enum URIHandler {
  package static func add(to type: GType, _ initInterface: GInterfaceInitFunc) {
    var info = GInterfaceInfo(interface_init: initInterface, interface_finalize: nil, interface_data: nil)
    g_type_add_interface_static(type, gst_uri_handler_get_type(), &info)
  }

  /// Says in `set_uri` why an element does not take a URI.
  /// - Returns: false.
  package static func refuse(
    _ code: GstURIError, _ reason: String, _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
  ) -> Bool {
    g_set_error_literal(error, gst_uri_error_quark(), gint(code.rawValue), reason)
    return false
  }

  /// A list of schemes that lives as long as the process.
  package static func schemes(_ schemes: StaticString...) -> UnsafePointer<UnsafePointer<CChar>?> {
    let list = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: schemes.count + 1)
    list.initialize(repeating: nil, count: schemes.count + 1)
    for (index, scheme) in schemes.enumerated() { list[index] = scheme.cString }
    return UnsafePointer(list)
  }
}
