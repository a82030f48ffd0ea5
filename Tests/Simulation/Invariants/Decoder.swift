/// What a decoder at the head unit would say: whether all that a picture refers to is there.
struct Decoder {
  /// Of a picture that was lost.
  private static let unknown = -1

  private var last: Int?
  private(set) var pictureCount = 0
  /// The output was closed, because nothing came for long; a later picture needs a key frame, which the app can't know
  /// of if the network was late.
  private var wasClosed = false

  /// The service begins.
  mutating func begin() { last = nil }

  /// No player was there for a picture, so that the next one begins wherever the stream is.
  mutating func missed() { last = Self.unknown }

  mutating func outputClosed() { wasClosed = true }

  /// - Returns: what is wrong; nil for nothing.
  mutating func take(_ bytes: [UInt8]) -> String? {
    guard let (number, isKeyFrame) = SimulatedPicture.parse(bytes) else { return "not the bytes that were sent" }
    pictureCount += 1
    defer { last = number }
    if isKeyFrame {
      wasClosed = false
      return nil
    }
    guard let last else { return "begins with picture \(number), which is no key frame" }
    return number == last + 1 || last == Self.unknown ? nil : "picture \(number) after \(last)"
  }

  /// Whether a complaint about the beginning of the stream is to be expected.
  var expectsComplaint: Bool { wasClosed }
}
