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

/** The pair as the files that a listener takes. */
export function writeTlsPair(folder: string): { readonly certFile: string; readonly keyFile: string } {
  const files = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  writeFileSync(files.certFile, TLS_CERTIFICATE);
  writeFileSync(files.keyFile, TLS_KEY);
  return files;
}
