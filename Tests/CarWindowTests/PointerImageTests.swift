import Testing

@testable import CarWindow

@Suite struct PointerImageTests {
  /// As the X Rendering Extension puts one picture over another: the colour is multiplied by its alpha already.
  @Test(
    arguments: [
      (0x0000_0000, 0x0012_3456, 0x0012_3456), (0xFFAB_CDEF, 0x0012_3456, 0x00AB_CDEF),
      (0x8080_0000, 0x00FF_00FF, 0x00FF_007F), (0x80FF_FFFF, 0x00FF_FFFF, 0x00FF_FFFF),
    ] as [(UInt32, UInt32, UInt32)])
  func blend(color: UInt32, former: UInt32, result: UInt32) {
    #expect(PointerImage.blend(color, over: former) == result)
  }
}
