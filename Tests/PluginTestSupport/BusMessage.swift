import GStreamerKit

/// A message of the bus, as a value.
struct BusMessage: CustomStringConvertible {
  enum Kind: Equatable {
    /// Name of the domain, code, text for people, text for developers.
    case error(Fault)
    case warning(Fault)
    case info(Fault)
    case progress(GstProgressType, code: String, text: String)
    /// Name of the structure.
    case element(String)
    case state(from: GstState, to: GstState)
    case asyncDone
    case endOfStream
    /// The application is asked to change the state of the pipeline.
    case buffering(percent: Int)
    /// Frames processed and dropped so far, and the unit in which that is counted.
    case qualityOfService(GstFormat, processed: UInt64, dropped: UInt64)
    /// Anything else, by GStreamer's name for it.
    case other(String)
  }

  /// What an ERROR, WARNING or INFO message carries.
  struct Fault: Equatable {
    var domain: GQuark
    var code: Int32
    var text: String
    var details: String

    func isResource(_ code: GstResourceError) -> Bool {
      domain == gst_resource_error_quark() && self.code == Int32(code.rawValue)
    }

    func isStream(_ code: GstStreamError) -> Bool {
      domain == gst_stream_error_quark() && self.code == Int32(code.rawValue)
    }

    func isLibrary(_ code: GstLibraryError) -> Bool {
      domain == gst_library_error_quark() && self.code == Int32(code.rawValue)
    }
  }

  var source: String
  var kind: Kind
  var fields: [String: String] = [:]

  var description: String { "\(source): \(kind) \(fields.isEmpty ? "" : "\(fields)")" }

  var error: Fault? { if case .error(let fault) = kind { fault } else { nil } }
  var warning: Fault? { if case .warning(let fault) = kind { fault } else { nil } }
  var info: Fault? { if case .info(let fault) = kind { fault } else { nil } }
  var progress: GstProgressType? { if case .progress(let type, _, _) = kind { type } else { nil } }

  var buffering: Int? { if case .buffering(let percent) = kind { percent } else { nil } }

  func isElement(_ name: String) -> Bool { kind == .element(name) }

  init(_ message: UnsafeMutablePointer<GstMessage>) {
    source = message.pointee.src.flatMap { gst_object_get_name($0) }.map(Self.take) ?? "?"
    switch message.pointee.type {
    case GST_MESSAGE_ERROR: kind = .error(Self.fault(message, gst_message_parse_error))
    case GST_MESSAGE_WARNING: kind = .warning(Self.fault(message, gst_message_parse_warning))
    case GST_MESSAGE_INFO: kind = .info(Self.fault(message, gst_message_parse_info))
    case GST_MESSAGE_PROGRESS:
      var type = GST_PROGRESS_TYPE_START
      var code: UnsafeMutablePointer<gchar>?
      var text: UnsafeMutablePointer<gchar>?
      gst_message_parse_progress(message, &type, &code, &text)
      kind = .progress(type, code: code.map(Self.take) ?? "", text: text.map(Self.take) ?? "")
    case GST_MESSAGE_ELEMENT:
      let structure = gst_message_get_structure(message)
      kind = .element(structure.flatMap { gst_structure_get_name($0) }.map { String(cString: $0) } ?? "")
      if let structure { fields = PluginTestSupport.fields(of: structure) }
    case GST_MESSAGE_STATE_CHANGED:
      var old = GST_STATE_NULL
      var new = GST_STATE_NULL
      gst_message_parse_state_changed(message, &old, &new, nil)
      kind = .state(from: old, to: new)
    case GST_MESSAGE_ASYNC_DONE: kind = .asyncDone
    case GST_MESSAGE_EOS: kind = .endOfStream
    case GST_MESSAGE_BUFFERING:
      var percent: gint = 0
      gst_message_parse_buffering(message, &percent)
      kind = .buffering(percent: Int(percent))
    case GST_MESSAGE_QOS:
      var format = GST_FORMAT_UNDEFINED
      var processed: guint64 = 0
      var dropped: guint64 = 0
      gst_message_parse_qos_stats(message, &format, &processed, &dropped)
      kind = .qualityOfService(format, processed: UInt64(processed), dropped: UInt64(dropped))
    case let type: kind = .other(gst_message_type_get_name(type).map { String(cString: $0) } ?? "?")
    }
  }

  private typealias FaultParser = (
    UnsafeMutablePointer<GstMessage>, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  ) -> Void

  private static func fault(_ message: UnsafeMutablePointer<GstMessage>, _ parse: FaultParser) -> Fault {
    var error: UnsafeMutablePointer<GError>?
    var details: UnsafeMutablePointer<gchar>?
    parse(message, &error, &details)
    defer { g_clear_error(&error) }
    return Fault(
      domain: error?.pointee.domain ?? 0, code: error?.pointee.code ?? -1,
      text: error.map { String(cString: $0.pointee.message) } ?? "", details: details.map(take) ?? "")
  }

  /// The text, which is freed.
  private static func take(_ text: UnsafeMutablePointer<gchar>) -> String {
    defer { g_free(text) }
    return String(cString: text)
  }
}
