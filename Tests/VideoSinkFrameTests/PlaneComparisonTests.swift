import Testing
import X264Encoder

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// Pixels are compared in every format, without what lies between the rows.
@Suite struct PlaneComparisonTests {
  private static let width = 64
  private static let height = 48

  private func haveSamePixels(_ one: [Picture.Plane], _ other: [Picture.Plane]) -> Bool {
    withPlanes(one) { one in
      withPlanes(other) { one.haveSamePixels(as: $0, width: Self.width, height: Self.height) }
    }
  }

  private func withPlanes<R>(_ planes: [Picture.Plane], _ body: (Planes) -> R) -> R {
    let memory = planes.map { plane in
      let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: plane.bytes.count, alignment: 1)
      bytes.copyBytes(from: plane.bytes)
      return bytes
    }
    defer { for bytes in memory { bytes.deallocate() } }
    let found = zip(memory, planes).compactMap { bytes, plane in
      bytes.baseAddress.map { Plane(base: $0, stride: plane.stride) }
    }
    return body(Planes(found[0], found[1], found.count > 2 ? found[2] : nil))
  }

  @Test(arguments: Picture.Layout.allCases, [0, 8])
  func equalPixels(_ layout: Picture.Layout, _ padding: Int) {
    let picture = Picture(Self.width, Self.height, 3)
    let planes = picture.planes(layout, padding: padding)
    #expect(haveSamePixels(planes, planes))
    // Other strides, and other bytes between the rows.
    #expect(haveSamePixels(planes, picture.planes(layout, padding: 24)))
    var noisy = planes
    for (index, plane) in picture.planes(layout).enumerated() {
      for row in 0..<(plane.bytes.count / plane.stride) {
        for column in plane.stride..<(plane.stride + padding) {
          noisy[index].bytes[row * noisy[index].stride + column] ^= 0x55
        }
      }
    }
    #expect(haveSamePixels(planes, noisy))
    #expect(!haveSamePixels(planes, Picture(Self.width, Self.height, 4).planes(layout, padding: padding)))
  }

  @Test(arguments: Picture.Layout.allCases, [0, 8])
  func everyPixelCounts(_ layout: Picture.Layout, _ padding: Int) {
    let seed: UInt64 = 12
    var random = SeededGenerator(seed: seed)
    let planes = Picture(Self.width, Self.height, 3).planes(layout, padding: padding)
    for index in planes.indices {
      let rowBytes = planes[index].stride - padding
      let rows = planes[index].bytes.count / planes[index].stride
      var places = [(0, 0), (0, rowBytes - 1), (rows - 1, 0), (rows - 1, rowBytes - 1)]
      for _ in 0..<50 {
        places.append((.random(in: 0..<rows, using: &random), .random(in: 0..<rowBytes, using: &random)))
      }
      for (row, column) in places {
        var changed = planes
        changed[index].bytes[row * changed[index].stride + column] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
        #expect(!haveSamePixels(planes, changed), "plane \(index), row \(row), column \(column), seed \(seed)")
        #expect(!haveSamePixels(changed, planes), "plane \(index), row \(row), column \(column), seed \(seed)")
      }
    }
  }

  @Test func planesInTheSamePlaceProveNothing() {
    let planes = Picture(Self.width, Self.height, 3).planes(.i420)
    withPlanes(planes) { one in
      #expect(!one.haveSamePixels(as: one, width: Self.width, height: Self.height))
      withPlanes(planes) { other in
        var shared = other
        shared.third = one.third
        #expect(!one.haveSamePixels(as: shared, width: Self.width, height: Self.height))
      }
    }
  }

  @Test func impossiblePlanesDiffer() {
    let planes = Picture(Self.width, Self.height, 3).planes(.i420)
    withPlanes(planes) { one in
      withPlanes(planes) { other in
        var narrow = other
        narrow.second.stride = 16
        #expect(!one.haveSamePixels(as: narrow, width: Self.width, height: Self.height))
        var interleaved = other
        interleaved.third = nil
        #expect(!one.haveSamePixels(as: interleaved, width: Self.width, height: Self.height))
      }
    }
  }
}
