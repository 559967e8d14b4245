import { distributions, supportedDistribution, unsupportedReason } from '../components/distributions/index.ts';
import { eachHost } from './each-host.ts';

const supported = distributions.filter(({ support }) => support === 'supported');
const known = distributions.filter(({ support }) => support === 'known');

const list = (separator: string): readonly string[] =>
  supported.map(({ name, versions }) => (versions === 'rolling' ? name : `${name} ${versions.join(separator)}`));

const also = known.length === 0 ? '' : `, also ${known.map(({ name }) => name).join(', ')},`;

export const osSupported = eachHost(
  {
    name: 'os-supported',
    title: `the distribution is ${list(' or ').join(', ')}`,
    why: `kbuild knows how these install packages, or that they have none. Other distributions${also} are observed, and refused as not yet supported.`,
    severities: ['error'],
  },
  ({ facts }) =>
    supportedDistribution(facts) !== undefined
      ? []
      : [
          {
            severity: 'error',
            message: unsupportedReason(facts),
            remedy: `use one of: ${list(', ').join('; ')}`,
          },
        ],
);
