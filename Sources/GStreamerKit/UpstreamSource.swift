import CGStreamer

/// The source whose thread pushes through a pad.
public enum UpstreamSource {
  /// How often a waiting thread should call ``isInterrupted(at:)``.
  public static let pollInterval = Duration.milliseconds(100)

  /// Whether the GstBaseSrc that pushes through `pad` on its own thread wants this thread back.
  ///
  /// When an application sends EOS to a pipeline, the source interrupts itself and waits for its streaming thread
  /// (`gst_base_src_send_event`). Downstream is not told: the only sign is the source's buffer pool, which is active
  /// and flushing then (`PrerollTests.sourceIsEnded`).
  public static func isInterrupted(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
    guard let source = thatPushes(through: pad) else { return false }
    defer { gst_object_unref(source) }
    guard cgst_is_base_src(source) != 0, let pool = gst_base_src_get_buffer_pool(source.cast()) else { return false }
    defer { gst_object_unref(pool) }
    return gst_buffer_pool_is_active(pool) != 0 && cgst_buffer_pool_is_flushing(pool) != 0
  }

  /// The first element upstream that is not a GstBaseTransform; transforms push on their upstream's thread.
  private static func thatPushes(
    through pad: UnsafeMutablePointer<GstPad>
  ) -> UnsafeMutablePointer<GstElement>? {
    guard var element = peerElement(of: pad) else { return nil }
    while cgst_is_base_transform(element) != 0 {
      let transform: UnsafeMutablePointer<GstBaseTransform> = element.cast()
      let next = transform.pointee.sinkpad.flatMap { peerElement(of: $0) }
      gst_object_unref(element)
      guard let next else { return nil }
      element = next
    }
    return element
  }

  private static func peerElement(of pad: UnsafeMutablePointer<GstPad>) -> UnsafeMutablePointer<GstElement>? {
    guard let peer = gst_pad_get_peer(pad) else { return nil }
    defer { gst_object_unref(peer) }
    return gst_pad_get_parent_element(peer)
  }
}

/// Threads that carry data through a pipeline, as opposed to those of an application. GStreamer does not say whose
/// query it is: `LinkingTests.encoderStartsInTheHeadUnitsSize`.
public enum StreamingThread {
  /// Whether the calling thread may be one: neither the process's first, nor one that runs a main loop.
  public static var isCurrent: Bool {
    // To ask for the default context's owner would make that context, and GLib aborts if there is no descriptor for it.
    cgst_is_first_thread() == 0 && g_main_context_get_thread_default() == nil && g_main_depth() == 0
  }
}
