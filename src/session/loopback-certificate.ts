import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** One value of DER (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);

const DAY_MS = 24 * 60 * 60_000;

/** UTCTime: `YYMMDDhhmmssZ`, for the years that it has (RFC 5280, 4.1.2.5.1). */
const utcTime = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

/** 1.2.840.10045.4.3.2, 2.5.4.3 and 2.5.29.17. */
const OID = {
  ecdsaWithSha256: der(0x06, Buffer.from('2a8648ce3d040302', 'hex')),
  commonName: der(0x06, Buffer.from('550403', 'hex')),
  subjectAltName: der(0x06, Buffer.from('551d11', 'hex')),
};

/**
 * A certificate of its own key for 127.0.0.1 (RFC 5280), and the key, both PEM: for a listener of one run. Valid from a
 * day before to a year after `nowMs`. Node can read certificates and make none.
 */
export function loopbackCertificate(nowMs: number): { readonly certificate: string; readonly key: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(OID.commonName, der(0x0c, Buffer.from('kbuild')))));
  const algorithm = sequence(OID.ecdsaWithSha256);
  const names = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, and never with a leading zero.
    der(0x02, Buffer.from([1]), randomBytes(15)),
    algorithm,
    name,
    sequence(utcTime(nowMs - DAY_MS), utcTime(nowMs + 365 * DAY_MS)),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(OID.subjectAltName, der(0x04, names)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const text = sequence(content, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n').trim();
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
