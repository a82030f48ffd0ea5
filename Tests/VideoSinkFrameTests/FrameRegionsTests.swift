import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touchable regions of frames, without a stream.
@Suite struct FrameRegionsTests {
  private typealias Region = (id: Int32, x: UInt32, y: UInt32, width: UInt32, height: UInt32)

  init() throws {
    try #require(GStreamer.isReady)
  }

  private func update(_ regions: inout FrameRegions, _ list: [Region]) throws -> Bool {
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    for region in list {
      for type in ["face", "sdl-haptic"] {
        let meta = gst_buffer_add_video_region_of_interest_meta(
          buffer, type, region.x, region.y, region.width, region.height)
        try #require(meta).pointee.id = region.id
      }
    }
    let isOther = regions.update(from: buffer)
    let expected = list.prefix(SendHapticData.maximumCount + 1).map {
      HapticRectangle(
        id: Int($0.id), x: Double($0.x), y: Double($0.y), width: Double($0.width), height: Double($0.height))
    }
    #expect(regions.rectangles == expected)
    return isOther
  }

  private static func list(_ ids: [Int32]) -> [Region] { ids.map { ($0, 1, 2, 3, 4) } }

  /// Whichever of them have changed.
  @Test func onlyOthersAreNew() throws {
    var regions = FrameRegions()
    let steps: [(ids: [Int32], isOther: Bool)] = [
      ([], false), ([1, 2, 3], true), ([1, 2, 3], false), ([1, 2], true), ([1, 2], false), ([1, 4, 5], true),
      ([1, 4, 5, 6], true), ([7, 4, 5, 6], true), ([4, 5, 6], true), ([], true), ([], false),
    ]
    for step in steps {
      let isOther = try update(&regions, Self.list(step.ids))
      #expect(isOther == step.isOther, "\(step.ids)")
    }
  }

  @Test(
    arguments: [
      (1, 5, 6, 7, 8), (0, 1, 6, 7, 8), (0, 5, 1, 7, 8), (0, 5, 6, 1, 8), (0, 5, 6, 7, 1),
    ] as [(Int32, UInt32, UInt32, UInt32, UInt32)])
  func eachNumberCounts(id: Int32, x: UInt32, y: UInt32, width: UInt32, height: UInt32) throws {
    var regions = FrameRegions()
    let isFirst = try update(&regions, [(0, 5, 6, 7, 8)])
    let isOther = try update(&regions, [(id, x, y, width, height)])
    #expect(isFirst && isOther)
  }

  /// Those that are left out change nothing, and the application hears of them once.
  @Test func tooManyRegions() throws {
    let bench = try FrameBench()
    let haptics = HapticRegions(connection: bench.connection)
    var regions = FrameRegions()
    var warnings: [Bool] = []
    let most = Int32(SendHapticData.maximumCount)
    for count in [most, most + 1, most + 2, most, most + 1] {
      let isOther = try update(&regions, Self.list(Array(0..<count)))
      #expect(isOther == (count != most + 2), "\(count)")
      warnings.append(haptics.setOfFrames(regions.rectangles, pictureSize: nil) != nil)
    }
    #expect(warnings == [false, true, false, false, false])
  }
}
