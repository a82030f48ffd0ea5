/// An action signal of an element, which applications emit by name, with `g_signal_emit_by_name`, or `emit` of a
/// language binding. It returns a number (guint).
///
///     ActionSignal("send-rpc", .string, .string) { sink, arguments in
///       sink.sendRPC(arguments.string(0), arguments.string(1))
///     }
package struct ActionSignal<Owner: GStreamerElement>: Sendable {
  private let name: StaticString
  private let parameters: [ActionParameter]
  private let call: @Sendable (Owner, ActionArguments) -> UInt32

  /// - Parameter call: runs on the thread of the application, without locks.
  package init(
    _ name: StaticString, _ parameters: ActionParameter..., call: @escaping @Sendable (Owner, ActionArguments) -> UInt32
  ) {
    self.name = name
    self.parameters = parameters
    self.call = call
  }

  /// Adds it to a type, which keeps it.
  ///
  /// - Parameter find: the object of an instance.
  func install(on type: GType, _ find: @escaping @Sendable (UnsafeMutableRawPointer) -> Owner?) {
    let call = call
    let handler = ActionHandler { values in
      guard let instance = g_value_get_object(values), let owner = find(instance) else { return 0 }
      return call(owner, ActionArguments(values: values + 1))
    }
    let closure = g_closure_new_simple(
      guint(MemoryLayout<GClosure>.stride), Unmanaged.passRetained(handler).toOpaque())
    g_closure_set_marshal(closure, ActionHandler.marshal)
    var types = parameters.map(\.type)
    g_signal_newv(
      name.cString, type, cgst_signal_action(), closure, nil, nil, nil,
      cgst_type_uint(), guint(types.count), &types)
  }
}

package enum ActionParameter: Sendable {
  case string
  case boolean
  /// GBytes.
  case bytes

  fileprivate var type: GType {
    switch self {
    case .string: cgst_type_string()
    case .boolean: cgst_type_boolean()
    case .bytes: g_bytes_get_type()
    }
  }
}

/// The arguments of an ``ActionSignal``, by their places from 0 on.
package struct ActionArguments {
  fileprivate let values: UnsafePointer<GValue>

  /// Nil for NULL.
  package func string(_ index: Int) -> String? { (values + index).string }

  package func boolean(_ index: Int) -> Bool { g_value_get_boolean(values + index) != 0 }

  /// A copy; empty for NULL.
  package func bytes(_ index: Int) -> [UInt8] {
    guard let bytes = g_value_get_boxed(values + index).map({ OpaquePointer($0) }) else { return [] }
    var count: gsize = 0
    guard let data = g_bytes_get_data(bytes, &count) else { return [] }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
  }
}

private final class ActionHandler {
  static let marshal: GClosureMarshal = { closure, result, _, values, _, _ in
    guard let handler = closure?.pointee.data, let values else { return }
    let number = Unmanaged<ActionHandler>.fromOpaque(handler).takeUnretainedValue().call(values)
    // Nil when the caller does not want the result.
    if let result { g_value_set_uint(result, number) }
  }

  private let call: (UnsafePointer<GValue>) -> UInt32

  init(_ call: @escaping (UnsafePointer<GValue>) -> UInt32) {
    self.call = call
  }
}

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
