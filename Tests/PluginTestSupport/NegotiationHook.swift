import GStreamerKit
import SDLMessages
import Synchronization

/// Runs a closure once at a moment of the caps negotiation, on the thread that negotiates, before that goes on.
final class NegotiationHook {
  /// The steps of a caps negotiation, in order.
  enum Moment: CaseIterable {
    /// RECONFIGURE goes upstream.
    case reconfigure
    /// A CAPS query has been answered.
    case query
    /// An ACCEPT_CAPS query has been answered.
    case acceptance
    /// The CAPS event arrives.
    case caps
    /// The first buffer with caps of the size arrives.
    case buffer
  }

  private let moment: Moment
  private let size: VideoSize
  private let fired = Atomic(false)
  private let body: () -> Void

  /// - Parameter size: for ``Moment/buffer``: the size in the caps of the pad.
  init(_ moment: Moment, _ size: VideoSize, _ body: @escaping () -> Void) {
    (self.moment, self.size, self.body) = (moment, size, body)
  }

  var hasRun: Bool { fired.load(ordering: .acquiring) }

  /// Adds the probe to a sink pad; the caller has to remove it.
  func set(at pad: UnsafeMutablePointer<GstPad>) -> gulong {
    let type: UInt32 =
      switch moment {
      case .reconfigure: GST_PAD_PROBE_TYPE_EVENT_UPSTREAM.rawValue
      case .caps: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
      case .buffer: GST_PAD_PROBE_TYPE_BUFFER.rawValue
      // A PULL probe of a query runs once that has been answered.
      case .query, .acceptance: GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PULL.rawValue
      }
    return gst_pad_add_probe(
      pad, GstPadProbeType(type), runNegotiationHook, Unmanaged.passRetained(self).toOpaque(), releaseNegotiationHook)
  }

  fileprivate func pass(_ pad: UnsafeMutablePointer<GstPad>, _ info: UnsafeMutablePointer<GstPadProbeInfo>) {
    guard isNow(pad, info), !fired.exchange(true, ordering: .acquiringAndReleasing) else { return }
    body()
  }

  private func isNow(_ pad: UnsafeMutablePointer<GstPad>, _ info: UnsafeMutablePointer<GstPadProbeInfo>) -> Bool {
    switch moment {
    case .reconfigure: return gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_RECONFIGURE
    case .caps: return gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_CAPS
    case .query: return gst_pad_probe_info_get_query(info)?.pointee.type == GST_QUERY_CAPS
    case .acceptance: return gst_pad_probe_info_get_query(info)?.pointee.type == GST_QUERY_ACCEPT_CAPS
    case .buffer:
      guard let caps = gst_pad_get_current_caps(pad) else { return false }
      defer { gst_caps_unref(caps) }
      return text(of: caps).contains("width=(int)\(size.width), height=(int)\(size.height),")
    }
  }
}

private func runNegotiationHook(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  if let pad, let info, let data {
    Unmanaged<NegotiationHook>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.pass(pad, info) }
  }
  return GST_PAD_PROBE_OK
}

private func releaseNegotiationHook(_ data: gpointer?) {
  if let data { Unmanaged<NegotiationHook>.fromOpaque(data).release() }
}
