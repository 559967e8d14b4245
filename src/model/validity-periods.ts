/** How long certificates are valid, and authorities, where the inventory does not say it: kubeadm's defaults (`v1beta4/defaults.go`). */
export const VALIDITY_PERIODS = { certificateValidityPeriod: '8760h', caCertificateValidityPeriod: '87600h' } as const;

/** Seconds of Go's units that kubeadm's examples use. */
const UNIT_S: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** Seconds of a duration of Go like `8760h0m0s`; undefined if it is none. */
export const secondsOf = (period: unknown): number | undefined =>
  typeof period === 'string' && /^(?:\d+[hms])+$/.test(period)
    ? [...period.matchAll(/(?<!\d)(\d+)([hms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit!]!,
        0,
      )
    : undefined;
