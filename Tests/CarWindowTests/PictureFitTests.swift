@testable import CarWindow
import Testing

@testable import Plugin

@Suite struct PictureFitTests {
  @Test(arguments: [
    (ScreenSize(800, 480), ScreenSize(800, 480), 0, 0, ScreenSize(800, 480)),
    (ScreenSize(1920, 1080), ScreenSize(800, 480), 0, 14, ScreenSize(800, 450)),
    (ScreenSize(400, 800), ScreenSize(800, 480), 280, 0, ScreenSize(240, 480)),
    (ScreenSize(101, 51), ScreenSize(101, 51), 0, 0, ScreenSize(101, 51)),
  ])
  func liesInTheMiddle(screen: ScreenSize, picture: ScreenSize, x: Int, y: Int, size: ScreenSize) {
    let fit = PictureFit(screen, in: picture)
    #expect(fit.x == x && fit.y == y && fit.size == size)
    let corner = fit.onScreen(Double(x + size.width), Double(y + size.height))
    #expect(corner == (Double(screen.width), Double(screen.height)))
  }
}

@Suite struct ScreenSizeTests {
  /// The screen keeps the shape of the picture.
  @Test(arguments: [
    (ScreenSize(1, 1), ScreenSize(800, 480)),
    (ScreenSize(800, 480), ScreenSize(800, 480)),
    (ScreenSize(1000, 100), ScreenSize(1000, 600)),
    (ScreenSize(100, 600), ScreenSize(1000, 600)),
    (ScreenSize(801, 480), ScreenSize(801, 481)),
    // As far as possible.
    (ScreenSize(65535, 65535), ScreenSize(1800, 1080)),
  ])
  func holdsTheLargestWindow(least: ScreenSize, size: ScreenSize) {
    #expect(ScreenSize(800, 480).enlarged(toHold: least, atMost: ScreenSize(1920, 1080)) == size)
  }

  @Test func limits() {
    #expect(ScreenSize(800, 480).limited(to: ScreenSize(640, 1080)) == ScreenSize(640, 480))
    #expect(ScreenSize(800, 480).limited(to: ScreenSize(1920, 400)) == ScreenSize(800, 400))
    #expect(ScreenSize(0, 480).enlarged(toHold: ScreenSize(10, 10), atMost: ScreenSize(99, 99)) == ScreenSize(0, 480))
  }
}
