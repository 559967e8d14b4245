// @module-tag linux
// @module-tag curl
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDownloads, type Wanted } from '../../../src/host/packages/downloads.survey.ts';
import { script, using } from '../../../src/templates.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const platform = (architecture: string, os = 'linux') => ({ digest: DIGEST, platform: { architecture, os } });
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** What a registry has, by path. Manifests and indexes as in the specifications of OCI (image-spec, distribution-spec). */
const HELD: Readonly<Record<string, object>> = {
  '/v2/both/manifests/1': {
    mediaType: INDEX,
    manifests: [platform('amd64'), platform('arm64'), platform('unknown', 'unknown')],
  },
  '/v2/one/manifests/1': { mediaType: INDEX, manifests: [platform('amd64'), platform('unknown', 'unknown')] },
  '/v2/single/manifests/1': {
    mediaType: MANIFEST,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: DIGEST, size: 7 },
    layers: [{ digest: `sha256:${'cd'.repeat(32)}` }],
  },
  [`/v2/single/blobs/${DIGEST}`]: { architecture: 'amd64', os: 'linux', rootfs: { diff_ids: [] } },
  '/v2/bare/manifests/1': { mediaType: MANIFEST, config: { digest: `sha256:${'ef'.repeat(32)}` } },
  '/v2/odd/manifests/1': {},
};

const asked: string[] = [];
const registry = createServer((request, response) => {
  const path = request.url!;
  asked.push(path);
  if (path.startsWith('/v2/secret/')) return void response.writeHead(401).end('{"errors":[]}');
  const held = HELD[path];
  if (held === undefined) return void response.writeHead(404).end('{"errors":[]}');
  response.writeHead(200).end(JSON.stringify(held, null, 2));
});
let base = '';
beforeAll(async () => {
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
  base = `http://127.0.0.1:${String((registry.address() as AddressInfo).port)}`;
});
afterAll(() => registry.close());

/** What the survey says about an image on a host of this architecture, with the host's own curl. */
async function answer(image: string, architecture: string): Promise<string> {
  const url = `${base}/v2/${image}/manifests/1`;
  const survey = script('host/packages/survey-downloads.sh', {
    ...{ WANTED: `image - ${url}`, ACCESS_IN: '', ARCHITECTURE: architecture },
    ...{ PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' },
  });
  const command = using('host/packages/download-with-curl.sh', survey);
  const { stdout } = await promisify(execFile)('sh', ['-euc', command.script]);
  return stdout.trim().replace(`image ${url} `, '');
}

describe('an image', () => {
  test.each([
    ['both', 'arm64', 'there'],
    ['both', 'amd64', 'there'],
    ['one', 'amd64', 'there'],
    ['one', 'arm64', 'foreign amd64'],
    ['single', 'amd64', 'there'],
    ['single', 'arm64', 'foreign amd64'],
    // No answer, and an answer that says nothing, is no proof that an image is for others.
    ['bare', 'arm64', 'there'],
    ['odd', 'arm64', 'there'],
    ['secret', 'arm64', 'there'],
    ['none', 'arm64', 'missing'],
    ['one', '', 'there'],
  ])('%s, on a host of %j, is %s', async (image, architecture, expected) =>
    expect(await answer(image, architecture)).toBe(expected),
  );

  test('of a mirror is what a runtime gets: the next registry is not asked when the mirror has it for others', () => {
    const urls = ['http://mirror/v2/a/manifests/1', 'https://registry/v2/a/manifests/1'];
    const wanted: Wanted = { kind: 'image', what: 'registry/a:1', urls };
    const found = readDownloads([wanted], `image ${urls[0]!} foreign amd64 s390x \n`);
    expect(found).toEqual([{ wanted, faults: [{ url: urls[0], kind: 'foreign', why: 'has it for amd64, s390x' }] }]);
    expect(readDownloads([wanted], `image ${urls[0]!} missing\nimage ${urls[1]!} there\n`)).toEqual([]);
  });

  test('is never pulled: only its manifest and its configuration are asked for', () =>
    expect(
      asked.filter((path) => path.includes('/blobs/') && !path.endsWith(DIGEST) && !path.includes('efef')),
    ).toEqual([]));
});
