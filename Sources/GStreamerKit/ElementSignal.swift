/// A signal with which an element passes another element to the application.
///
///     static let encoderSetup = ElementSignal("encoder-setup")
///     encoderSetup.install(on: sinkClass)   // in class_init
///     encoderSetup.emit(sink, encoder)
package struct ElementSignal: Sendable {
  private let name: StaticString

  package init(_ name: StaticString) {
    self.name = name
  }

  package func install(on elementClass: UnsafeMutableRawPointer?) {
    guard let type = elementClass?.assumingMemoryBound(to: GTypeClass.self).pointee.g_type else { return }
    var types = [gst_element_get_type()]
    g_signal_newv(
      name.cString, type, cgst_signal_run_last(), nil, nil, nil, nil, cgst_type_none(), guint(types.count), &types)
  }

  /// Calls the handlers. Without locks.
  package func emit(_ owner: some GStreamerElement, _ element: UnsafeMutablePointer<GstElement>) {
    let type = UnsafeMutableRawPointer(owner.gstElement).assumingMemoryBound(to: GTypeInstance.self)
    let id = g_signal_lookup(name.cString, type.pointee.g_class.pointee.g_type)
    var values = [GValue](repeating: GValue(), count: 2)
    for (index, object) in [owner.gstElement, element].enumerated() {
      g_value_init(&values[index], gst_element_get_type())
      g_value_set_object(&values[index], object)
    }
    g_signal_emitv(values, id, 0, nil)
    for index in values.indices { g_value_unset(&values[index]) }
  }
}
