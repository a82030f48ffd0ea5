/// A Swift object that elements find through GstContext, as those of OpenGL find their display: the first one that
/// needs it asks the application and the bins around it (NEED_CONTEXT), makes it if there is none, and announces it
/// (HAVE_CONTEXT), so that the bins keep it for others. An application may pass it to another pipeline:
///
///     static let context = ContextType<HeadUnits>("sdl.head-units", boxed: "GstSdlHeadUnits")
///     let headUnits = HeadUnits.context.find(for: self) { HeadUnits() }   // in NULL→READY
package struct ContextType<Object: AnyObject & Sendable>: Sendable {
  private static var field: String { "object" }

  package let name: StaticString
  private let boxedType: GType

  /// - Parameters:
  ///   - name: of the context.
  ///   - boxed: the name of its field's GType, unique in the process.
  package init(_ name: StaticString, boxed: StaticString) {
    self.name = name
    boxedType = g_boxed_type_register_static(
      boxed.cString,
      { object in
        guard let object else { return nil }
        return UnsafeMutableRawPointer(Unmanaged<AnyObject>.fromOpaque(object).retain().toOpaque())
      },
      { object in if let object { Unmanaged<AnyObject>.fromOpaque(object).release() } })
    // For the log, which shows messages with all their fields.
    g_value_register_transform_func(boxedType, cgst_type_string()) { object, text in
      guard let object, let text else { return }
      g_value_set_string(text, "0x\(String(UInt(bitPattern: g_value_get_boxed(object)), radix: 16))")
    }
  }

  /// The object for an element. Call without locks: handlers of the application run.
  package func find<Element: GStreamerElement>(for element: Element, make: () -> Object) -> Object {
    if let object = current(of: element) { return object }
    element.post(gst_message_new_need_context(element.gstElement.cast(), name.cString))
    if let object = current(of: element) { return object }
    let object = make()
    share(object, from: element)
    return object
  }

  /// The context that the element was given last.
  private func current<Element: GStreamerElement>(of element: Element) -> Object? {
    guard let context = gst_element_get_context(element.gstElement, name.cString) else { return nil }
    defer { gst_context_unref(context) }
    guard let structure = gst_context_get_structure(context),
      let value = StructureView(structure).value(Self.field), g_type_check_value_holds(value, boxedType) != 0,
      let object = g_value_get_boxed(value)
    else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue() as? Object
  }

  private func share<Element: GStreamerElement>(_ object: Object, from element: Element) {
    // Not persistent: elements and bins lose it on their way from PAUSED to READY, and to NULL.
    guard let context = gst_context_new(name.cString, 0) else { return }
    var value = GValue()
    g_value_init(&value, boxedType)
    g_value_take_boxed(&value, Unmanaged<AnyObject>.passRetained(object).toOpaque())
    gst_structure_take_value(gst_context_writable_structure(context), Self.field, &value)
    gst_element_set_context(element.gstElement, context)
    element.post(gst_message_new_have_context(element.gstElement.cast(), context))
  }
}
