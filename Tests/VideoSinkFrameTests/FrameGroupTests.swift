import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The frames that are kept since the last key frame.
@Suite struct FrameGroupTests {
  private static let maximumCount = 600
  private static let maximumByteCount = 2 << 20

  init() throws {
    try #require(GStreamer.isReady)
  }

  /// Runs `body` with some buffers, which nothing may keep.
  private func withBuffers(
    _ byteCounts: Int..., body: ([UnsafeMutablePointer<GstBuffer>]) -> Void
  ) throws {
    let buffers = try byteCounts.map { try nonNull(gst_buffer_new_allocate(nil, gsize($0), nil)) }
    body(buffers)
    #expect(buffers.map(\.pointee.mini_object.refcount) == buffers.map { _ in 1 })
    for buffer in buffers { gst_buffer_unref(buffer) }
  }

  private func references(_ buffers: [UnsafeMutablePointer<GstBuffer>]) -> [Int] {
    buffers.map { Int($0.pointee.mini_object.refcount) }
  }

  @Test func keptFromTheKeyFrameOn() throws {
    try withBuffers(1, 2, 3, 4) { buffers in
      var group = FrameGroup()
      group.add(buffers[0], isKeyFrame: false)
      #expect(Array(group.buffers) == [] && references(buffers) == [1, 1, 1, 1])
      group.add(buffers[1], isKeyFrame: true)
      group.add(buffers[2], isKeyFrame: false)
      #expect(Array(group.buffers) == [buffers[1], buffers[2]] && references(buffers) == [1, 2, 2, 1])
      group.add(buffers[3], isKeyFrame: true)
      #expect(Array(group.buffers) == [buffers[3]] && references(buffers) == [1, 1, 1, 2])
      group.add(buffers[0], isKeyFrame: false)
      group.removeFirst()
      #expect(Array(group.buffers) == [buffers[0]] && references(buffers) == [2, 1, 1, 1])
      group.forget()
      #expect(Array(group.buffers) == [])
      group.add(buffers[1], isKeyFrame: false)
      #expect(Array(group.buffers) == [])
      // What is left goes with the group.
      group.add(buffers[2], isKeyFrame: true)
    }
  }

  /// The frame with which a pipeline is paused may have been sent before its turn.
  @Test func theLastOneAgain() throws {
    try withBuffers(1, 2) { buffers in
      var group = FrameGroup()
      for index in [0, 0, 1, 1] { group.add(buffers[index], isKeyFrame: index == 0) }
      #expect(Array(group.buffers) == buffers && references(buffers) == [2, 2])
    }
  }

  /// Nor is the next one, since a stream with such groups would be copied for nothing.
  @Test func aGroupOfTooManyIsNotKept() throws {
    try withBuffers(1, 1) { buffers in
      var group = FrameGroup()
      group.add(buffers[0], isKeyFrame: true)
      for number in 1..<Self.maximumCount { group.add(buffers[number % 2], isKeyFrame: false) }
      #expect(group.buffers.count == Self.maximumCount)
      group.add(buffers[0], isKeyFrame: false)
      #expect(group.buffers.isEmpty)
      group.add(buffers[0], isKeyFrame: true)
      group.add(buffers[1], isKeyFrame: false)
      #expect(group.buffers.isEmpty)
      // It was small.
      group.add(buffers[0], isKeyFrame: true)
      #expect(group.buffers.count == 1)
    }
  }

  @Test func aGroupOfTooManyBytesIsNotKept() throws {
    try withBuffers(Self.maximumByteCount - 1, 1, 1) { buffers in
      var group = FrameGroup()
      group.add(buffers[0], isKeyFrame: true)
      group.add(buffers[1], isKeyFrame: false)
      #expect(group.buffers.count == 2)
      group.add(buffers[2], isKeyFrame: false)
      #expect(group.buffers.isEmpty)
      // After a loss the count begins anew.
      group.forget()
      group.add(buffers[0], isKeyFrame: true)
      #expect(group.buffers.count == 1)
    }
  }
}
