import GStreamerKit
import SDLLink
import SDLWire

/// The implementation of one `sdlheadunitsrc`: a head unit that pushes the video of the app on the screen. See
/// ``HeadUnitElement``.
final class HeadUnitSource: HeadUnitElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let baseSource: UnsafeMutablePointer<GstBaseSrc>

  let settings = ElementSettings(HeadUnitElementSettings())
  let current = Monitor(HeadUnitElementState<HeadUnitVideoStream>())

  static let log = LogCategory("sdlheadunitsrc", "SmartDeviceLink head unit source")

  private init(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) {
    self.baseSource = baseSource
  }
}

/// GstBaseSrc's virtual functions; without a run there is nothing to push or to touch.
extension HeadUnitSource {
  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    stream?.create(&buffer, of: self) ?? GST_FLOW_FLUSHING
  }

  /// Handles an event from downstream; false if it was not handled.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard event.pointee.type == GST_EVENT_NAVIGATION else {
      return handleByParent(event)
    }
    return stream?.navigate(event, pad: pad) ?? false
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return answerByParent(query)
    }
    gst_query_set_latency(query, 1, GstClockTime(clamping: (stream?.latency ?? .zero).nanoseconds), .max)
    return true
  }
}

extension HeadUnitSource {
  static let type: GType = {
    let type = PushSourceType.register("GstSdlHeadUnitSrc") { sourceClass, _ in
      // Registers the debug categories, which GST_DEBUG help then lists.
      _ = (HeadUnitSource.log, ProtocolLog.category)
      PushSourceType.install(
        on: sourceClass, HeadUnitSource.properties,
        ElementDetails(
          "SmartDeviceLink Head Unit Source", "Source/Video/Network",
          "Acts as a car's head unit for SmartDeviceLink apps, and outputs their video",
          .source("video/x-h264, stream-format = (string) byte-stream, alignment = (string) au")))
    } initInstance: { instance, _ in
      PushSourceType.begin(instance, with: HeadUnitSource(PushSourceType.parent(of: instance).cast()))
    }
    URIHandler.add(to: type) { interface, _ in
      guard let interface = interface?.assumingMemoryBound(to: GstURIHandlerInterface.self) else { return }
      interface.pointee.get_type = { _ in GST_URI_SRC }
      interface.pointee.get_protocols = { _ in HeadUnitSource.schemes }
      interface.pointee.get_uri = { HeadUnitSource.of($0).flatMap { g_strdup($0.uri.text) } }
      interface.pointee.set_uri = { instance, uri, error in
        guard let uri, let source = HeadUnitSource.of(instance) else { return 0 }
        return source.takeURI(String(cString: uri), error) ? 1 : 0
      }
    }
    return type
  }()

  nonisolated(unsafe) private static let schemes = URIHandler.schemes("sdl+headunit")

  private static func of(_ instance: OpaquePointer?) -> HeadUnitSource? {
    PushSourceType.object(of: UnsafeMutableRawPointer(instance)) as? HeadUnitSource
  }
}
