import CGStreamerApp
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Whether a buffer holds the same picture as the one that was encoded last.
@Suite struct EncodedPictureTests {
  private static let width = 64
  private static let height = 48

  init() throws {
    try #require(GStreamer.isReady)
  }

  private func info(_ layout: Picture.Layout = .i420) -> GstVideoInfo {
    var info = GstVideoInfo()
    gst_video_info_init(&info)
    gst_video_info_set_format(
      &info, gst_video_format_from_string(layout.rawValue), guint(Self.width), guint(Self.height))
    return info
  }

  /// Runs `body` with the source of buffers, and unreferences what it returns.
  private func withSource(_ body: (FrameSource) throws -> [UnsafeMutablePointer<GstBuffer>]) throws {
    let pipeline = try Pipeline("appsrc name=src ! fakesink name=sink")
    let source = try FrameSource(pipeline, caps: Picture.caps(Self.width, Self.height))
    for buffer in try body(source) { gst_buffer_unref(buffer) }
  }

  private func equals(
    _ one: UnsafeMutablePointer<GstBuffer>, _ other: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo
  ) -> Bool {
    var encoded = EncodedPicture()
    encoded.note(one, isKeyFrame: true, isSettled: false)
    return encoded.equals(other, info)
  }

  @Test(arguments: Picture.Layout.allCases, [0, 24])
  func newMemory(_ layout: Picture.Layout, _ padding: Int) throws {
    try withSource { source in
      let picture = Picture(Self.width, Self.height, 1)
      var changed = picture
      changed.red[picture.red.count - 1] ^= 1
      let buffers = [
        try picture.buffer(layout, padding: padding, from: source),
        try picture.buffer(layout, padding: 0, from: source),
        try picture.buffer(layout, padding: 40, from: source),
        try changed.buffer(layout, padding: padding, from: source),
      ]
      #expect(equals(buffers[0], buffers[0], info(layout)))
      #expect(equals(buffers[0], buffers[1], info(layout)))
      #expect(equals(buffers[0], buffers[2], info(layout)))
      #expect(!equals(buffers[0], buffers[3], info(layout)))
      return buffers
    }
  }

  @Test func sameMemory() throws {
    try withSource { source in
      let buffer = try Picture(Self.width, Self.height, 1).buffer(.i420, padding: 24, from: source)
      let copy = try nonNull(gst_buffer_copy(buffer))
      #expect(equals(buffer, copy, info()))
      // While it is kept, a writer gets memory of its own.
      var encoded = EncodedPicture()
      encoded.note(buffer, isKeyFrame: true, isSettled: false)
      var map = GstMapInfo()
      try #require(gst_buffer_map(copy, &map, GST_MAP_WRITE) != 0)
      map.data[7] ^= 1
      gst_buffer_unmap(copy, &map)
      let equalsWritten = encoded.equals(copy, info())
      #expect(!equalsWritten)
      return [buffer, copy]
    }
  }

  @Test func otherPlacesInTheSameMemory() throws {
    try withSource { source in
      let picture = Picture(Self.width, Self.height, 1)
      let buffer = try picture.buffer(.i420, padding: 0, from: source)
      let size = gst_buffer_get_size(buffer)
      let twice = try #require(source.buffer(of: picture.bytes + Picture(Self.width, Self.height, 2).bytes))
      let first = try nonNull(gst_buffer_copy_region(twice, GST_BUFFER_COPY_MEMORY, 0, size))
      let again = try nonNull(gst_buffer_copy_region(twice, GST_BUFFER_COPY_MEMORY, 0, size))
      let second = try nonNull(gst_buffer_copy_region(twice, GST_BUFFER_COPY_MEMORY, size, size))
      #expect(equals(first, again, info()))
      #expect(!equals(first, second, info()))
      #expect(equals(buffer, first, info()))
      return [buffer, twice, first, again, second]
    }
  }

  @Test func severalMemories() throws {
    try withSource { source in
      let picture = Picture(Self.width, Self.height, 1)
      var changed = picture
      changed.blue[5] ^= 4
      let buffers = try [picture, picture, changed].map { picture in
        let parts = picture.planes(.i420).compactMap { source.buffer(of: $0.bytes) }
        return try #require(parts.dropFirst().reduce(parts.first) { gst_buffer_append($0, $1) })
      }
      let whole = try picture.buffer(.i420, padding: 0, from: source)
      #expect(equals(buffers[0], buffers[1], info()))
      #expect(!equals(buffers[0], buffers[2], info()))
      #expect(equals(buffers[0], whole, info()) && equals(whole, buffers[0], info()))
      #expect(!equals(whole, buffers[2], info()))
      return buffers + [whole]
    }
  }

  /// Such as an application's screen, which is wrapped again for each picture: its former content is gone.
  @Test func wrappedMemoryThatWasDrawnInto() throws {
    let size = Self.width * Self.height * 3 / 2
    let screen = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    screen.copyBytes(from: Picture(Self.width, Self.height, 1).bytes)
    defer { screen.deallocate() }
    func wrap() throws -> UnsafeMutablePointer<GstBuffer> {
      try nonNull(
        gst_buffer_new_wrapped_full(
          GST_MEMORY_FLAG_READONLY, screen.baseAddress, gsize(size), 0, gsize(size), nil, nil))
    }
    let (one, other) = (try wrap(), try wrap())
    screen[100] ^= 1
    #expect(!equals(one, other, info()))
    gst_buffer_unref(one)
    gst_buffer_unref(other)
  }

  @Test func anEqualPictureTakesThePlaceOfTheFormer() throws {
    try withSource { source in
      let picture = Picture(Self.width, Self.height, 1)
      let one = try picture.buffer(.i420, padding: 0, from: source)
      let other = try picture.buffer(.i420, padding: 0, from: source)
      var encoded = EncodedPicture()
      encoded.note(one, isKeyFrame: true, isSettled: false)
      let isEqual = encoded.equals(other, info())
      #expect(isEqual)
      #expect(referenceCount(one) == 1 && referenceCount(other) == 2)
      encoded.forget()
      let isForgotten = !encoded.equals(other, info())
      #expect(referenceCount(other) == 1 && isForgotten)
      return [one, other]
    }
  }

  @Test func sharpOnceItIsSettledOrWasRepeatedForLong() throws {
    try withSource { source in
      let one = try Picture(Self.width, Self.height, 1).buffer(.i420, padding: 0, from: source)
      let other = try Picture(Self.width, Self.height, 2).buffer(.i420, padding: 0, from: source)
      var encoded = EncodedPicture()
      encoded.note(one, isKeyFrame: true, isSettled: false)
      var isSharp = encoded.isSharp
      #expect(!isSharp)
      encoded.note(one, isKeyFrame: false, isSettled: true)
      isSharp = encoded.isSharp
      #expect(isSharp)
      encoded.note(other, isKeyFrame: false, isSettled: false)
      isSharp = encoded.isSharp
      #expect(!isSharp)
      var count = 0
      while !encoded.isSharp, count < 1000 {
        encoded.note(other, isKeyFrame: false, isSettled: false)
        count += 1
      }
      #expect((30..<1000).contains(count), "\(count) repetitions")
      encoded.note(other, isKeyFrame: true, isSettled: false)
      isSharp = encoded.isSharp
      #expect(!isSharp)
      return [one, other]
    }
  }
}

/// References to a buffer.
private func referenceCount(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Int {
  Int(buffer.pointee.mini_object.refcount)
}
