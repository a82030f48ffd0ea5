import GStreamerKit
import SDLApp
import SDLAppLink

/// A piece of sound on its way to the socket: part of a GstBuffer, without a copy, or samples of its own.
///
/// `@unchecked Sendable`: it is filled by the streaming thread, then handed over through the queue's lock, and touched
/// by nothing else until it comes back, under the lock of the sink's state.
final class SamplePayload: MediaPayload, @unchecked Sendable {
  /// The sink that counts the result. Held while in use, because a sink that is stopped in a callback on the connection
  /// thread does not wait for queued payloads.
  private var sink: AudioSink?
  private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
  private var storedCount = 0
  private var buffer: UnsafeMutablePointer<GstBuffer>?
  private var map = GstMapInfo()
  private var range = 0..<0
  /// Samples from upstream.
  private(set) var sampleCount = 0
  /// Samples where upstream had none.
  private(set) var silenceCount = 0

  deinit {
    clear()
    storage.deallocate()
  }

  /// An empty payload of `sink`.
  func begin(for sink: AudioSink) {
    self.sink = sink
  }

  /// Refers to bytes of the buffer; false when it can't be mapped.
  func refer(to buffer: UnsafeMutablePointer<GstBuffer>, _ range: Range<Int>, sampleCount: Int) -> Bool {
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return false }
    gst_buffer_ref(buffer)
    self.buffer = buffer
    self.range = range.clamped(to: 0..<Int(map.size))
    self.sampleCount = sampleCount
    return true
  }

  func append(
    byteCount: Int, sampleCount: Int = 0, silenceCount: Int = 0, _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    let end = storedCount + byteCount
    if storage.count < end {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: end * 2, alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<storedCount]))
      storage.deallocate()
      storage = larger
    }
    fill(UnsafeMutableRawBufferPointer(rebasing: storage[storedCount..<end]))
    storedCount = end
    self.sampleCount += sampleCount
    self.silenceCount += silenceCount
  }

  var segmentCount: Int { 1 }

  func segment(at index: Int) -> UnsafeRawBufferPointer {
    guard buffer != nil else { return UnsafeRawBufferPointer(rebasing: storage[..<storedCount]) }
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: map.data, count: Int(map.size))[range])
  }

  var byteCount: Int { buffer == nil ? storedCount : range.count }

  func release(wasSent: Bool) {
    guard wasSent else { return giveUp(.discarded) }
    let (samples, silence, bytes) = (sampleCount, silenceCount, byteCount)
    giveBack { $0.sent(samples: samples, silence: silence, byteCount: bytes) }
  }

  func giveUp(_ reason: SampleDropReason) {
    let count = sampleCount
    giveBack { $0.samplesDropped(count, reason) }
  }

  private func giveBack(counting change: (inout AudioSinkCounters) -> Void) {
    guard let sink else { return }
    clear()
    sink.state.withLock { state in
      change(&state.counters)
      state.payloads.append(self)
    }
  }

  /// Releases its references.
  private func clear() {
    if let buffer {
      gst_buffer_unmap(buffer, &map)
      gst_buffer_unref(buffer)
    }
    buffer = nil
    sink = nil
    storedCount = 0
    sampleCount = 0
    silenceCount = 0
  }
}
