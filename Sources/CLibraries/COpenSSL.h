#ifndef COPENSSL_H
#define COPENSSL_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include "CLibraries.h"

#define COPENSSL_FUNCTIONS(FUNCTION) \
  FUNCTION (ASN1_STRING_get0_data) \
  FUNCTION (ASN1_STRING_length) \
  FUNCTION (ASN1_TIME_to_tm) \
  FUNCTION (BIO_ctrl) \
  FUNCTION (BIO_free) \
  FUNCTION (BIO_get_data) \
  FUNCTION (BIO_meth_new) \
  FUNCTION (BIO_meth_set_ctrl) \
  FUNCTION (BIO_meth_set_read) \
  FUNCTION (BIO_meth_set_write) \
  FUNCTION (BIO_new) \
  FUNCTION (BIO_new_fd) \
  FUNCTION (BIO_new_mem_buf) \
  FUNCTION (BIO_read) \
  FUNCTION (BIO_s_mem) \
  FUNCTION (BIO_clear_flags) \
  FUNCTION (BIO_set_data) \
  FUNCTION (BIO_set_flags) \
  FUNCTION (BIO_set_init) \
  FUNCTION (DTLS_method) \
  FUNCTION (DTLS_set_timer_cb) \
  FUNCTION (ERR_clear_error) \
  FUNCTION (ERR_get_error) \
  FUNCTION (ERR_peek_error) \
  FUNCTION (ERR_reason_error_string) \
  FUNCTION (EVP_Digest) \
  FUNCTION (EVP_PKEY_free) \
  FUNCTION (EVP_sha1) \
  FUNCTION (EVP_sha256) \
  FUNCTION (PEM_read_bio_PrivateKey) \
  FUNCTION (PEM_read_bio_X509) \
  FUNCTION (SSL_CIPHER_get_name) \
  FUNCTION (SSL_CTX_check_private_key) \
  FUNCTION (SSL_CTX_ctrl) \
  FUNCTION (SSL_CTX_free) \
  FUNCTION (SSL_CTX_get_cert_store) \
  FUNCTION (SSL_CTX_new) \
  FUNCTION (SSL_CTX_set_cipher_list) \
  FUNCTION (SSL_CTX_set_default_verify_paths) \
  FUNCTION (SSL_CTX_set_options) \
  FUNCTION (SSL_CTX_set_verify) \
  FUNCTION (SSL_CTX_set_verify_depth) \
  FUNCTION (SSL_CTX_use_PrivateKey) \
  FUNCTION (SSL_CTX_use_certificate) \
  FUNCTION (SSL_ctrl) \
  FUNCTION (SSL_do_handshake) \
  FUNCTION (SSL_free) \
  FUNCTION (SSL_get1_peer_certificate) \
  FUNCTION (SSL_get_current_cipher) \
  FUNCTION (SSL_get_error) \
  FUNCTION (SSL_get_verify_result) \
  FUNCTION (SSL_get_version) \
  FUNCTION (SSL_new) \
  FUNCTION (SSL_read) \
  FUNCTION (SSL_set1_host) \
  FUNCTION (SSL_set_accept_state) \
  FUNCTION (SSL_set_bio) \
  FUNCTION (SSL_set_connect_state) \
  FUNCTION (SSL_shutdown) \
  FUNCTION (SSL_write) \
  FUNCTION (TLS_method) \
  FUNCTION (X509_NAME_ENTRY_get_data) \
  FUNCTION (X509_NAME_get_entry) \
  FUNCTION (X509_NAME_get_index_by_NID) \
  FUNCTION (X509_NAME_print_ex) \
  FUNCTION (X509_STORE_add_cert) \
  FUNCTION (X509_check_private_key) \
  FUNCTION (X509_free) \
  FUNCTION (X509_get0_notAfter) \
  FUNCTION (X509_get0_notBefore) \
  FUNCTION (X509_get_issuer_name) \
  FUNCTION (X509_get_subject_name) \
  FUNCTION (X509_verify_cert_error_string)

#define COPENSSL_TEXT(number) COPENSSL_LITERAL (number)
#define COPENSSL_LITERAL(number) #number
/* The library that belongs to the headers: other major versions have another ABI. */
LIBRARY_TABLE (COpenSSLFunctions, copenssl_load, COPENSSL_FUNCTIONS,
    "libssl.so." COPENSSL_TEXT (OPENSSL_VERSION_MAJOR))

/* Macros that are expressions. */
static const unsigned long COPENSSL_NAME_FORMAT = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
static const int COPENSSL_BIO_FLAGS = BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY;

/* Every connection has a handshake of its own, as in SDL Core; and there is no network whose MTU could be queried. */
static const uint64_t COPENSSL_OPTIONS = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION
    | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_QUERY_MTU;

#endif
