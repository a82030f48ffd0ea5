import GStreamerKit
import HTTPFetch
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// The application's own RPCs, through the element: those for which there is no property, event or message.
extension ActionSignal where Owner: AppElement {
  static var app: [ActionSignal<Owner>] {
    [
      ActionSignal("send-rpc", .string, .string) { $0.sendRPC($1.string(0), $1.string(1)) },
      ActionSignal("put-file", .string, .string, .bytes, .boolean) {
        $0.putFile($1.string(0), type: $1.string(1), $1.bytes(2), isPersistent: $1.boolean(3))
      },
      ActionSignal("answer-system-request", .string, .bytes) { $0.answerSystemRequest($1.string(0), $1.bytes(1)) },
    ]
  }
}

/// In characters.
private let longestFileName = 255

extension AppElement {
  /// Sends the request with this name and these parameters.
  ///
  /// - Returns: its correlation id; 0 if it can't be sent, and `sdl-rpc` says why.
  fileprivate func sendRPC(_ name: String?, _ json: String?) -> UInt32 {
    let name = name ?? ""
    guard let function = FunctionID(name: name), function.isKnownRequest else {
      return refuse(name, "\(name.printable(limit: 100)) is no request of the RPC specification")
    }
    guard function != .putFile else { return refuse(name, "files are sent by put-file") }
    do throws(JSONObject.Malformed) {
      return send(function, try JSONObject(parsing: (json ?? "").utf8))
    } catch {
      return refuse(name, "the parameters of \(name) are no JSON object: \(error)")
    }
  }

  fileprivate func putFile(_ name: String?, type: String?, _ bytes: [UInt8], isPersistent: Bool) -> UInt32 {
    guard let name, (1...longestFileName).contains(name.unicodeScalars.count), !name.contains("/") else {
      return refuse("\(FunctionID.putFile)", "a file's name has 1 to \(longestFileName) characters, and no slash")
    }
    guard let type, FileType(rawValue: type) != nil else {
      let types = FileType.allCases.map(\.rawValue).joined(separator: ", ")
      return refuse("\(FunctionID.putFile)", "a file's type is one of \(types)")
    }
    guard !bytes.isEmpty else { return refuse("\(FunctionID.putFile)", "a file has one byte at least") }
    let parameters: JSONObject = [
      "syncFileName": .string(name), "fileType": .string(type), "persistentFile": .bool(isPersistent),
    ]
    return send(.putFile, parameters, bulk: bytes)
  }

  /// The answer to a request of the head unit of this type (`sdl-system-request`).
  fileprivate func answerSystemRequest(_ type: String?, _ bytes: [UInt8]) -> UInt32 {
    guard let type, !type.isEmpty else {
      return refuse("\(FunctionID.systemRequest)", "the type of a system request is missing")
    }
    return send(.systemRequest, ["requestType": .string(type)], bulk: bytes)
  }

  private func send(_ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) -> UInt32 {
    do throws(ApplicationRequest.Refusal) {
      guard let app else { throw .notRegistered }
      return UInt32(clamping: try app.connection.request(function, parameters, bulk: bulk))
    } catch {
      return refuse("\(function)", "\(function) was not sent: \(error)")
    }
  }

  /// The request can't be sent: the log and `sdl-rpc` say why.
  private func refuse(_ name: String, _ reason: String) -> UInt32 {
    log(GST_LEVEL_WARNING, reason)
    let message = Structure("sdl-rpc")
    message.set("type", "error")
    message.set("name", name.printable(limit: 100))
    message.set("error", reason)
    postElementMessage(message)
    return 0
  }

  /// `sdl-system-request`: the head unit asks to fetch something, or to send something somewhere.
  func postSystemRequest(_ request: OnSystemRequest) {
    let message = Structure("sdl-system-request")
    message.set("request-type", request.type)
    message.set("request-subtype", request.subtype)
    message.set("url", request.url)
    if let timeout = request.timeout { message.set("timeout-ms", UInt64(clamping: timeout.nanoseconds / 1_000_000)) }
    message.set("file-type", request.fileType)
    // Not fields of a structure, since field names are never freed.
    message.set(
      "headers", String(decoding: request.headers.mapValues(JSONValue.string).serialized, as: UTF8.self))
    message.set("body", bytes: request.body)
    postElementMessage(message)
  }

  /// `sdl-rpc`: the answer to a request, or a notification.
  func postRPC(_ rpc: RPCMessage) {
    let message = Structure("sdl-rpc")
    message.set("type", rpc.type == .response ? "response" : "notification")
    message.set("name", "\(rpc.function)")
    if rpc.type == .response {
      let result = RPCResult(json: rpc.parameters)
      message.set("correlation-id", UInt32(clamping: rpc.correlationID))
      message.set("success", result.success)
      message.set("result-code", result.resultCode)
      message.set("info", result.info)
    }
    message.set("json", String(decoding: rpc.parameters.serialized, as: UTF8.self))
    if !rpc.bulk.isEmpty { message.set("data", bytes: rpc.bulk) }
    postElementMessage(message)
  }
}

/// Fetches policies for the head unit (`policy-updates`), one at a time, on a thread of its own that nothing waits for.
final class PolicyFetch: Sendable {
  private let isBusy = Atomic(false)

  /// Leaves a request to the application, or sends its bytes to the server, and the answer to the head unit.
  ///
  /// - Parameter warn: gets the reason of a failure.
  func take(
    _ request: OnSystemRequest, _ mode: PolicyUpdates, _ element: any AppElement, _ connection: AppConnection,
    warn: @escaping @Sendable (ElementError) -> Void
  ) {
    switch mode {
    case .none: break
    case .application: element.postSystemRequest(request)
    case .fetch: fetch(request, connection, warn: warn)
    }
  }

  private func fetch(
    _ request: OnSystemRequest, _ connection: AppConnection, warn: @escaping @Sendable (ElementError) -> Void
  ) {
    // Icons and the like are for the application to show.
    guard ["PROPRIETARY", "HTTP"].contains(request.type), let url = request.url,
      !isBusy.exchange(true, ordering: .relaxed)
    else { return }
    @Sendable func fail(_ reason: String) {
      warn(
        .resource(GST_RESOURCE_ERROR_READ, "The head unit's policy could not be fetched from \(url): \(reason)."))
    }
    do throws(LinkError) {
      try WorkerThread.detach(name: "sdl-policy") {
        var failure: HTTPFailure?
        do throws(HTTPFailure) {
          // Without a slash it is no media type, of which libsoup would warn.
          let contentType = request.headers["ContentType"].flatMap { $0.contains("/") ? $0 : nil } ?? "application/json"
          let answer = try HTTPClient.post(
            request.body, to: url, contentType: contentType, allowsThisMachine: connection.isPeerOnThisMachine)
          // The connection may have ended meanwhile, and the head unit asks again.
          _ = try? connection.request(.systemRequest, ["requestType": .string(request.type)], bulk: answer)
        } catch {
          failure = error
        }
        // Who learns of the failure may have the head unit ask again at once.
        self.isBusy.store(false, ordering: .relaxed)
        if let failure { fail(failure.description) }
      }
    } catch {
      isBusy.store(false, ordering: .relaxed)
      fail("\(error)")
    }
  }
}
