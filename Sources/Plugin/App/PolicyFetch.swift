import GStreamerKit
import HTTPFetch
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

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
