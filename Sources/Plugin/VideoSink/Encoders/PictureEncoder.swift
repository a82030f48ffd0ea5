import GStreamerKit
import X264Encoder

/// Encodes raw pictures of one format: libx264, or an element.
///
/// A picture's access unit may come at once, later, or never: ``RawEncoder`` counts the missing ones. It is used by one
/// thread at a time, and waits for a bounded time at most.
protocol PictureEncoder: AnyObject {
  /// The settings with which it was opened.
  var settings: EncoderSettings { get }

  /// The number of the picture that the next finished access unit shows; nil if none is finished.
  var nextNumber: Int64? { get }

  /// Whether the last access unit that was taken shows its picture as well as it can be.
  var isSettled: Bool { get }

  /// Changes the targets from the next picture on.
  ///
  /// - Throws: when that needs a new encoder.
  func setRates(_ rates: EncoderRates) throws(EncoderError)

  /// Whether the next picture will be a key frame in any case.
  func isKeyFrameDue(at time: Duration?) -> Bool

  /// Takes a picture.
  ///
  /// - Parameters:
  ///   - number: grows from picture to picture.
  ///   - now: when it is sent.
  /// - Returns: false when the picture can't be read.
  func put(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, number: Int64, at now: Duration,
    as kind: PictureKind
  ) throws(EncoderError) -> Bool

  /// Puts the next finished access unit into a payload.
  ///
  /// - Returns: the number of its picture; nil if none is finished.
  func take(into payload: FramePayload) -> Int64?

  /// No picture follows for now: finishes the pictures in the encoder, as far as possible.
  func drain()
}

/// Whether an access unit changes nothing on the screen.
enum SettledUnit {
  /// More bytes than in a slice that changes nothing: about 20.
  private static let sliceByteCount = 60

  static func changesNothing(byteCount: Int, unitCount: Int, isKeyFrame: Bool) -> Bool {
    !isKeyFrame && byteCount <= sliceByteCount * unitCount
  }
}
