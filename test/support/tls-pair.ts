/** A self-signed certificate for localhost, for tests of TLS listeners only. */
import { writeFileSync } from 'node:fs';

export const TLS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUauqbe5zXfgNQAycLHequ4aYdyD4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEyNDU1OVoYDzIxMjYxMDI4
MTI0NTU5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQPHM/MCS0rp4xV9k+0SvsLA/NDPzdsm492lQtDTYTKDfQ0t0ztYO6p
MgEBDWfCyA56AGErwLqEoNo7IBhEzkOmo1MwUTAdBgNVHQ4EFgQUxlqL89NR6io0
kuTjaYYMqYXXsCIwHwYDVR0jBBgwFoAUxlqL89NR6io0kuTjaYYMqYXXsCIwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiATxZRr29yFmL3gbKhK4ACY
kFZ6zLx1Y3JZjKUoGXiQ1QIhAPdtYIY0jbldNfnq6eCEhgQdLpIeehIRjlNz0ULn
vT1c
-----END CERTIFICATE-----
`;
export const TLS_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgk27yvTcKGIgexXm5
PvfRSbIUkLwRG4gjFMrD0WPEYbuhRANCAAQPHM/MCS0rp4xV9k+0SvsLA/NDPzds
m492lQtDTYTKDfQ0t0ztYO6pMgEBDWfCyA56AGErwLqEoNo7IBhEzkOm
-----END PRIVATE KEY-----
`;

/** Another one, for a certificate that is replaced. */
export const OTHER_TLS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfjCCASWgAwIBAgIUSpM2Jy4mmhvis9JHCM1KDBvON+0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTA5NTY0N1oYDzIxMjYxMTA1
MDk1NjQ3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARFz1ZoIJK315DuBN9oyAIMq427npcb36xXGVu8SeA2y5vMu9Dh+vW9
XZy7g0lDnxmJrnEEpVj/u7G5mzxWn9mjo1MwUTAdBgNVHQ4EFgQUNqQFQ1Up1SGr
Vx+MjycwTxgyAtswHwYDVR0jBBgwFoAUNqQFQ1Up1SGrVx+MjycwTxgyAtswDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAuw4JWlK2eEzyGuReVnMl6
NZlLH9hsMX077MBN4wEp/wIgHGSQgIt1SOchxFJpb5CHa8cA4NIc5N4kT6sLW2j3
5CY=
-----END CERTIFICATE-----
`;
const OTHER_TLS_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiChfidwGAP6WgmFo
E/pKqX4uMNP7SdgVx9B7+bVtBbahRANCAARFz1ZoIJK315DuBN9oyAIMq427npcb
36xXGVu8SeA2y5vMu9Dh+vW9XZy7g0lDnxmJrnEEpVj/u7G5mzxWn9mj
-----END PRIVATE KEY-----
`;

/** The pair as the files that a listener takes. */
export function writeTlsPair(folder: string): { readonly certFile: string; readonly keyFile: string } {
  const files = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  writeFileSync(files.certFile, TLS_CERTIFICATE);
  writeFileSync(files.keyFile, TLS_KEY);
  return files;
}

/** Replaces the files of such a pair by the other one. */
export function replaceTlsPair({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }): void {
  writeFileSync(certFile, OTHER_TLS_CERTIFICATE);
  writeFileSync(keyFile, OTHER_TLS_KEY);
}
