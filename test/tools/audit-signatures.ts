/**
 * `npm run audit:signatures`: what `npm audit signatures` says of the packages in node_modules. It only says so, and never fails: a registry
 * may not answer, or publish no signatures.
 */
import { spawnSync } from 'node:child_process';

/** Until npm is given up, in ms. */
const PATIENCE_MS = 30_000;

/** What npm said, without the addresses of registries. */
const withoutAddresses = (text: string): string => text.replaceAll(/https?:\/\/\S+/g, '(the registry)').trim();

const { status, stdout, stderr } = spawnSync('npm', ['audit', 'signatures'], {
  encoding: 'utf8',
  timeout: PATIENCE_MS,
});
const said = withoutAddresses(stdout === '' ? stderr : stdout);
console.log(
  status === 0
    ? `signatures of packages: ${said}`
    : `signatures of packages: not verified here (npm ended with ${String(status ?? 'no answer in time')})\n${said}`,
);
