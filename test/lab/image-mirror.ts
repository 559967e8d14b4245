/** A registry that has kubeadm's images in a folder of its own, as a mirror that someone filled for `kubernetes.imageRepository`. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GATEWAY, REGISTRY_PORT } from './network-plan.ts';

/** That registry. */
export interface ImageMirror {
  /** For `runtime.registries[].mirrors`. */
  readonly url: string;
  /** The paths that it was asked for. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** Starts it at the lab's gateway, with the images of the lab's registry below `folder`: kubeadm wants CoreDNS there without a folder of its own. */
export async function imageMirror(folder: string): Promise<ImageMirror> {
  const asked: string[] = [];
  const base = `/v2/${folder}/`;
  const server = createServer((from, to) => {
    const path = from.url ?? '/';
    asked.push(path);
    if (path !== '/v2/' && !path.startsWith(base)) {
      to.writeHead(404).end();
      return;
    }
    const inside = path.replace(base, '/v2/').replace('/v2/coredns/', '/v2/coredns/coredns/');
    const { method, headers } = from;
    const passed = request({ host: GATEWAY, port: REGISTRY_PORT, method, headers, path: inside }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    passed.on('error', () => to.destroy());
    from.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, GATEWAY, resolve));
  return {
    url: `http://${GATEWAY}:${String((server.address() as AddressInfo).port)}`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
